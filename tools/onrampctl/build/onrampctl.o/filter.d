/work/main/tools/onrampctl/build/onrampctl.o/filter.o: filter.c filter.h \
 sockets.h family.h ctl.h ../lib/util.h ../lib/exit.h ../lib/parse.h
filter.h:
sockets.h:
family.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
../lib/parse.h:
