/work/main/tools/onrampctl/build/onrampctl.o/prometheus.o: prometheus.c \
 prom.h ctl.h ../lib/util.h ../lib/exit.h
prom.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
