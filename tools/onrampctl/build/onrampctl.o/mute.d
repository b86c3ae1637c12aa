/work/main/tools/onrampctl/build/onrampctl.o/mute.o: mute.c ctl.h \
 ../lib/util.h ../lib/exit.h ../lib/parse.h
ctl.h:
../lib/util.h:
../lib/exit.h:
../lib/parse.h:
