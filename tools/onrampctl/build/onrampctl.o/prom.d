/work/main/tools/onrampctl/build/onrampctl.o/prom.o: prom.c \
 ../../include/uapi/onramp.h prom.h ctl.h ../lib/util.h ../lib/exit.h
../../include/uapi/onramp.h:
prom.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
