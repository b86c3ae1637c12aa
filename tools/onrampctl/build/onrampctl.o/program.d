/work/main/tools/onrampctl/build/onrampctl.o/program.o: program.c clock.h \
 ctl.h ../lib/util.h ../lib/exit.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
