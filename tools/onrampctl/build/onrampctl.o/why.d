/work/main/tools/onrampctl/build/onrampctl.o/why.o: why.c collect.h ctl.h \
 ../lib/util.h ../lib/exit.h show.h sockets.h family.h why.h look.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
show.h:
sockets.h:
family.h:
why.h:
look.h:
