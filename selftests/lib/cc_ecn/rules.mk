# SPDX-License-Identifier: GPL-2.0
# kselftests of a congestion control whose glue is include/cc_ecn.h. A collection sets CC_ECN to
# its name, includes this before lib.mk, and has:
#
#	law.sh		what the programs here have to know about it
#	marks.sh	tests of its law, with marks_lib.sh
#	replay.awk	its equations, for marks.sh

cc_ecn := $(dir $(lastword $(MAKEFILE_LIST)))

# Where the module's sources are: its list of parameters is read from there.
CC_SRC ?= $(cc_ecn)../../../tcp_$(CC_ECN)

CFLAGS += -O2 -Wall -I$(CC_SRC)
LDFLAGS += -static

TEST_GEN_PROGS := module.sh
TEST_GEN_PROGS += sysctl.sh
TEST_GEN_PROGS += ecn.sh

TEST_PROGS := marks.sh

TEST_FILES := law.sh
TEST_FILES += replay.awk

TEST_GEN_FILES := onramp.sh ksft_helper params.sh
TEST_GEN_FILES += marks_lib.sh
TEST_GEN_FILES += timely_helper
TEST_GEN_FILES += params_table names

all:

$(OUTPUT)/module.sh $(OUTPUT)/sysctl.sh $(OUTPUT)/ecn.sh $(OUTPUT)/marks_lib.sh: \
$(OUTPUT)/%: $(cc_ecn)%
	mkdir -p $(@D)
	cp $< $@

$(OUTPUT)/params_table: $(cc_ecn)params_table.c
	mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -include $(CC_ECN)_params.h -MMD -MP -MF $@.d -MT $@ $< -o $@

$(OUTPUT)/names: $(CC_SRC)/$(CC_ECN).h $(CC_SRC)/$(CC_ECN)_trace.h

# The same socket API for all congestion controls.
$(OUTPUT)/timely_helper: $(cc_ecn)../../timely/timely_helper.c
	mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $< $(LDLIBS) -o $@
