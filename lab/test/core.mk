# SPDX-License-Identifier: GPL-2.0
#
# Userspace tests of the pure core of a module of the lab, in 64 and 32 bits under
# AddressSanitizer and UndefinedBehaviorSanitizer. Included with
#
#	module	its name: lab/$(module)/$(module)_core.h, $(module)_core_test.c
#	needs	modules whose headers that includes
#	more	other tests of the module's headers, if there are any
#
#	make run [O=DIR]

lab := ../../..
lib := $(lab)/../tools/lib
O ?= $(lab)/../build/unit-$(module)
ifeq ($(origin CC),default)
CC := gcc
endif

tests := $(module)_core_test $(more)
flags := -std=gnu11 -O1 -g -Wall -Wextra -Werror -I$(lab)/$(module) -I$(lib) -I$(lab)/../include \
	 -fsanitize=address,undefined -fno-sanitize-recover=all
headers := $(foreach m,$(module) $(needs),$(wildcard $(lab)/$(m)/$(m)_*.h)) \
	   $(lib)/ktap.h $(wildcard *.h)
programs := $(foreach t,$(tests),$(O)/$(t).m64 $(O)/$(t).m32)

all: $(programs)

run: all
	@echo 'KTAP version 1'; echo '1..$(words $(programs))'; \
	n=0 status=0; \
	for program in $(programs); do \
		n=$$((n + 1)) result=ok; \
		$$program >$(O)/report || result='not ok' status=1; \
		sed 's/^/  /' $(O)/report; \
		echo "$$result $$n $${program##*/}"; \
	done; \
	exit $$status

$(O)/%.m64: %.c $(headers) | $(O)
	$(CC) -m64 $(flags) $< -o $@ -lm

$(O)/%.m32: %.c $(headers) | $(O)
	$(CC) -m32 $(flags) $< -o $@ -lm

$(O):
	mkdir -p $@

clean:
	rm -rf $(O)

.PHONY: all run clean
