/work/main/tools/onrampctl/build/onrampctl.o/doctor_package.o: \
 doctor_package.c doctor.h ctl.h ../lib/util.h ../lib/exit.h
doctor.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
