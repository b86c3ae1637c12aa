/work/main/tools/onrampctl/build/onrampctl.o/clock_core.o: clock_core.c \
 clock.h ctl.h ../lib/util.h ../lib/exit.h ../lib/parse.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
../lib/parse.h:
