/work/main/tools/onrampctl/build/onrampctl.o/doctor.o: doctor.c doctor.h \
 ctl.h ../lib/util.h ../lib/exit.h
doctor.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
