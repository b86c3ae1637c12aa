# SPDX-License-Identifier: GPL-2.0
# How the files that all collections share are made. Included after lib.mk.

shared := $(dir $(lastword $(MAKEFILE_LIST)))

$(OUTPUT)/onramp.sh $(OUTPUT)/params.sh $(OUTPUT)/ptp.conf: $(OUTPUT)/%: $(shared)%
	mkdir -p $(@D)
	cp $< $@

$(OUTPUT)/ksft_helper: $(shared)ksft_helper.c $(shared)netns.h
	mkdir -p $(@D)
	$(CC) -O2 -Wall -D_GNU_SOURCE= -static $< -o $@
