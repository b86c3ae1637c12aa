/work/main/tools/onrampctl/build/onrampctl.o/top_core.o: top_core.c \
 show.h ctl.h ../lib/util.h ../lib/exit.h sockets.h family.h top.h why.h \
 look.h
show.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
sockets.h:
family.h:
top.h:
why.h:
look.h:
