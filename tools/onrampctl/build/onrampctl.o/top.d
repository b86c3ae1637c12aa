/work/main/tools/onrampctl/build/onrampctl.o/top.o: top.c collect.h ctl.h \
 ../lib/util.h ../lib/exit.h filter.h sockets.h family.h show.h top.h \
 why.h look.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
filter.h:
sockets.h:
family.h:
show.h:
top.h:
why.h:
look.h:
