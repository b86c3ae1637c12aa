/work/main/tools/onrampctl/build/onrampctl.o/status.o: status.c ctl.h \
 ../lib/util.h ../lib/exit.h
ctl.h:
../lib/util.h:
../lib/exit.h:
