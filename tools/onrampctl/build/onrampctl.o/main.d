/work/main/tools/onrampctl/build/onrampctl.o/main.o: main.c clock.h ctl.h \
 ../lib/util.h ../lib/exit.h filter.h sockets.h family.h monitor.h \
 ../nic_ts/nic_ts.h ../lib/parse.h prom.h show.h top.h why.h look.h \
 trace.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
filter.h:
sockets.h:
family.h:
monitor.h:
../nic_ts/nic_ts.h:
../lib/parse.h:
prom.h:
show.h:
top.h:
why.h:
look.h:
trace.h:
