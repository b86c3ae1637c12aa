/work/main/tools/onrampctl/build/onrampctl.o/why_core.o: why_core.c why.h \
 look.h sockets.h family.h ctl.h ../lib/util.h ../lib/exit.h
why.h:
look.h:
sockets.h:
family.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
