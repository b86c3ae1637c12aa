/work/main/tools/onrampctl/build/onrampctl.o/ethtool.o: ethtool.c \
 collect.h ctl.h ../lib/util.h ../lib/exit.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
