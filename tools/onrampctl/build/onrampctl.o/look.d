/work/main/tools/onrampctl/build/onrampctl.o/look.o: look.c collect.h \
 ctl.h ../lib/util.h ../lib/exit.h filter.h sockets.h family.h look.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
filter.h:
sockets.h:
family.h:
look.h:
