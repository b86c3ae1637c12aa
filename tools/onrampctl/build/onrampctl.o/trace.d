/work/main/tools/onrampctl/build/onrampctl.o/trace.o: trace.c trace.h \
 look.h sockets.h family.h ctl.h ../lib/util.h ../lib/exit.h
trace.h:
look.h:
sockets.h:
family.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
