/work/main/tools/onrampctl/build/onrampctl.o/json.o: json.c ctl.h \
 ../lib/util.h ../lib/exit.h
ctl.h:
../lib/util.h:
../lib/exit.h:
