# SPDX-License-Identifier: GPL-2.0
# kselftests of tcp_timely.

# Where the module's sources are: timely_params.h is read from there.
TIMELY_SRC := ../../../../../../net/ipv4/tcp_timely

CFLAGS += -O2 -Wall -I$(TIMELY_SRC)
LDFLAGS += -static

TEST_PROGS := register.sh
TEST_PROGS += sysctl.sh
TEST_PROGS += ops.sh

TEST_GEN_FILES := onramp.sh ksft_helper params.sh
TEST_GEN_FILES += timely_helper
TEST_GEN_FILES += timely_params_table names

include ../../../lib.mk
include ../lib/rules.mk

$(OUTPUT)/names: $(TIMELY_SRC)/timely.h $(TIMELY_SRC)/timely_trace.h
