/work/main/tools/onrampctl/build/onrampctl.o/lib/parse.o: ../lib/parse.c \
 ../lib/util.h ../lib/exit.h ../lib/parse.h
../lib/util.h:
../lib/exit.h:
../lib/parse.h:
