/work/main/tools/onrampctl/build/onrampctl.o/report.o: report.c ctl.h \
 ../lib/util.h ../lib/exit.h
ctl.h:
../lib/util.h:
../lib/exit.h:
