/work/main/tools/onrampd/build/onrampd.o/main.o: main.c \
 /usr/include/libnl3/netlink/errno.h ../lib/parse.h ../lib/util.h \
 ../lib/exit.h chrony.h kernel.h cluster.h baseline_core.h floors.h \
 huygens.h probe.h report.h udp.h
/usr/include/libnl3/netlink/errno.h:
../lib/parse.h:
../lib/util.h:
../lib/exit.h:
chrony.h:
kernel.h:
cluster.h:
baseline_core.h:
floors.h:
huygens.h:
probe.h:
report.h:
udp.h:
