# SPDX-License-Identifier: GPL-2.0
#
# Userspace tests of the pure core of a module of the lab, in 64 and 32 bits under
# AddressSanitizer and UndefinedBehaviorSanitizer. Included with
#
#	module	its name: ../../lab/$(module)/$(module)_core.h, $(module)_core_test.c
#	needs	modules whose headers that includes
#
#	make run [O=DIR]

O ?= ../../../build/unit-$(module)
ifeq ($(origin CC),default)
CC := gcc
endif

test := $(module)_core_test
flags := -std=gnu11 -O1 -g -Wall -Wextra -Werror -I../../lab/$(module) -I../../unit \
	 -fsanitize=address,undefined -fno-sanitize-recover=all
headers := $(foreach m,$(module) $(needs),$(wildcard ../../lab/$(m)/$(m)_*.h)) \
	   ../../unit/ktap.h
programs := $(O)/$(test).m64 $(O)/$(test).m32

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

$(O)/$(test).m%: $(test).c $(headers) | $(O)
	$(CC) -m$* $(flags) $< -o $@ -lm

$(O):
	mkdir -p $@

clean:
	rm -rf $(O)

.PHONY: all run clean
