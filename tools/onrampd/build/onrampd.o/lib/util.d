/work/main/tools/onrampd/build/onrampd.o/lib/util.o: ../lib/util.c \
 ../lib/util.h ../lib/exit.h
../lib/util.h:
../lib/exit.h:
