/work/main/tools/onrampctl/build/onrampctl.o/collect.o: collect.c \
 collect.h ctl.h ../lib/util.h ../lib/exit.h family.h
collect.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
family.h:
