# SPDX-License-Identifier: GPL-2.0
# How the files that all collections share are made. Included after lib.mk.

shared := $(dir $(lastword $(MAKEFILE_LIST)))

$(OUTPUT)/onramp.sh $(OUTPUT)/params.sh $(OUTPUT)/ptp.conf: $(OUTPUT)/%: $(shared)%
	mkdir -p $(@D)
	cp $< $@

$(OUTPUT)/ksft_helper: $(shared)ksft_helper.c $(shared)netns.h
	mkdir -p $(@D)
	$(CC) -O2 -Wall -D_GNU_SOURCE= -static $< -o $@

# Counters, in their order, and tracepoints of a congestion control, from its two headers.
$(OUTPUT)/names:
	mkdir -p $(@D)
	sed -nE -e 's/^	(CC|TIMELY)_STAT\([A-Z0-9_]+, ([A-Za-z0-9]+)[,)].*/counter \2/p' \
		-e 's/^TRACE_EVENT\(([a-z0-9_]+),.*|^DEFINE_EVENT\([a-z_]+, ([a-z0-9_]+),.*/event \1\2/p' \
		$^ >$@
