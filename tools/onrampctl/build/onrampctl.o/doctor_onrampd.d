/work/main/tools/onrampctl/build/onrampctl.o/doctor_onrampd.o: \
 doctor_onrampd.c clock.h ctl.h ../lib/util.h ../lib/exit.h doctor.h
clock.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
doctor.h:
