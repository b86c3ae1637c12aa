/work/main/tools/onrampctl/build/onrampctl.o/package.o: package.c clock.h \
 ctl.h ../lib/util.h ../lib/exit.h collect.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
collect.h:
