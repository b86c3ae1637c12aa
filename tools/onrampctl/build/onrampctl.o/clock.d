/work/main/tools/onrampctl/build/onrampctl.o/clock.o: clock.c clock.h \
 ctl.h ../lib/util.h ../lib/exit.h collect.h look.h sockets.h family.h \
 ../nic_ts/nic_ts.h show.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
collect.h:
look.h:
sockets.h:
family.h:
../nic_ts/nic_ts.h:
show.h:
