/work/main/tools/onrampctl/build/onrampctl.o/sockets.o: sockets.c \
 collect.h ctl.h ../lib/util.h ../lib/exit.h sockets.h family.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
sockets.h:
family.h:
