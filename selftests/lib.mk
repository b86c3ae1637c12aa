# SPDX-License-Identifier: GPL-2.0
# The part of the kernel's selftests/lib.mk that the tests here use, for running
# them without a kernel tree. Names and meanings are the kernel's.
#
#	make			build TEST_GEN_PROGS and TEST_GEN_FILES in OUTPUT
#	make install INSTALL_PATH=DIR
#	make emit_tests		names for kselftest-list.txt
#	make clean

CC ?= cc
OUTPUT ?= $(CURDIR)
COLLECTION ?= $(notdir $(CURDIR))
CFLAGS += -D_GNU_SOURCE=

TEST_GEN_PROGS := $(patsubst %,$(OUTPUT)/%,$(TEST_GEN_PROGS))
TEST_GEN_FILES := $(patsubst %,$(OUTPUT)/%,$(TEST_GEN_FILES))

all: $(TEST_GEN_PROGS) $(TEST_GEN_FILES)

$(OUTPUT)/%: %.c | $(OUTPUT)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(LDLIBS) -o $@

# Headers are of the modules, too, and change.
-include $(wildcard $(OUTPUT)/*.d)

$(OUTPUT):
	mkdir -p $@

install: all
	$(if $(INSTALL_PATH),,$(error set INSTALL_PATH to the directory to install in))
	mkdir -p $(INSTALL_PATH)
	cp -L $(TEST_PROGS) $(TEST_FILES) $(TEST_GEN_PROGS) $(TEST_GEN_FILES) \
		$(wildcard config settings) $(INSTALL_PATH)/

emit_tests:
	@for test in $(notdir $(TEST_GEN_PROGS)) $(TEST_PROGS); do \
		echo "$(COLLECTION):$$test"; \
	done

clean:
	rm -f $(TEST_GEN_PROGS) $(TEST_GEN_FILES) $(wildcard $(OUTPUT)/*.d)

.PHONY: all install emit_tests clean
