/work/main/tools/onrampctl/build/onrampctl.o/lib/util.o: ../lib/util.c \
 ../lib/util.h ../lib/exit.h
../lib/util.h:
../lib/exit.h:
