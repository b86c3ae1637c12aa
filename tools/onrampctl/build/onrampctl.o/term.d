/work/main/tools/onrampctl/build/onrampctl.o/term.o: term.c ctl.h \
 ../lib/util.h ../lib/exit.h
ctl.h:
../lib/util.h:
../lib/exit.h:
