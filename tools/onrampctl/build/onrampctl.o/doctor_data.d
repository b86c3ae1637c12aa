/work/main/tools/onrampctl/build/onrampctl.o/doctor_data.o: doctor_data.c \
 doctor.h ctl.h ../lib/util.h ../lib/exit.h
doctor.h:
ctl.h:
../lib/util.h:
../lib/exit.h:
