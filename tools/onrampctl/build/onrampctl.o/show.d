/work/main/tools/onrampctl/build/onrampctl.o/show.o: show.c family.h \
 ctl.h ../lib/util.h ../lib/exit.h filter.h sockets.h show.h
family.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
filter.h:
sockets.h:
show.h:
