/work/main/tools/onrampctl/build/onrampctl.o/text.o: text.c ctl.h \
 ../lib/util.h ../lib/exit.h
ctl.h:
../lib/util.h:
../lib/exit.h:
