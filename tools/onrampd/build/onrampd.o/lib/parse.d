/work/main/tools/onrampd/build/onrampd.o/lib/parse.o: ../lib/parse.c \
 ../lib/util.h ../lib/exit.h ../lib/parse.h
../lib/util.h:
../lib/exit.h:
../lib/parse.h:
