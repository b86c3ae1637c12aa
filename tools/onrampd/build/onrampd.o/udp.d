/work/main/tools/onrampd/build/onrampd.o/udp.o: udp.c ../lib/util.h \
 ../lib/exit.h udp.h
../lib/util.h:
../lib/exit.h:
udp.h:
