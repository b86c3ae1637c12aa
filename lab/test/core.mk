# SPDX-License-Identifier: GPL-2.0
#
# Userspace tests of the pure core of a module of the lab, in 64 and 32 bits under
# AddressSanitizer and UndefinedBehaviorSanitizer; those of 32 bits where the kernel executes them,
# else as i386, see tools/bits32. Included with
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
flags := -std=gnu11 -O1 -g -Wall -Wextra -Werror -I$(lab)/$(module) -I$(lib) -I$(lab)/../include -I$(lab)/../include/user
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
trap := -fsanitize=undefined -fsanitize-undefined-trap-on-error -Wno-maybe-uninitialized
headers := $(foreach m,$(module) $(needs),$(wildcard $(lab)/$(m)/$(m)_*.h)) \
	   $(lib)/ktap.h $(wildcard *.h)
# m32 or i386
BITS32 ?= m32
programs := $(foreach t,$(tests),$(O)/$(t).m64 $(O)/$(t).$(BITS32))
skipped := $(if $(filter i386,$(BITS32)),$(tests:%=%.m32))

all: $(programs)

run:
	+@bits32=$$(CC='$(CC)' $(lab)/../tools/bits32) && \
	$(MAKE) --no-print-directory run-programs BITS32="$$bits32"

run-programs: all
	@echo 'KTAP version 1'; echo '1..$(words $(programs) $(skipped))'; \
	n=0 status=0; \
	for program in $(programs); do \
		n=$$((n + 1)) result=ok emulator=; \
		case $$program in *.i386) emulator=qemu-i386 ;; esac; \
		$$emulator $$program >$(O)/report || result='not ok' status=1; \
		sed 's/^/  /' $(O)/report; \
		echo "$$result $$n $${program##*/}"; \
	done; \
	for name in $(skipped); do \
		n=$$((n + 1)); \
		echo "ok $$n $$name # SKIP this machine's kernel executes no 32-bit programs"; \
	done; \
	exit $$status

$(O)/%.m64: %.c $(headers) | $(O)
	$(CC) -m64 $(flags) $(sanitize) -c $< -o $@.o && $(CC) -m64 $(sanitize) $@.o -o $@ -lm

$(O)/%.m32: %.c $(headers) | $(O)
	$(CC) -m32 $(flags) $(sanitize) -c $< -o $@.o && $(CC) -m32 $(sanitize) $@.o -o $@ -lm

$(O)/%.i386: %.c $(headers) | $(O)
	$(CC) -m32 -static $(flags) $(trap) $< -o $@ -lm

$(O):
	mkdir -p $@

clean:
	rm -rf $(O)

.PHONY: all run run-programs clean
