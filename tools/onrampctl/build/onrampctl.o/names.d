/work/main/tools/onrampctl/build/onrampctl.o/names.o: names.c show.h \
 ctl.h ../lib/util.h ../lib/exit.h sockets.h family.h
show.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
sockets.h:
family.h:
