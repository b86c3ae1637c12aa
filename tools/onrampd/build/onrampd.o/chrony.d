/work/main/tools/onrampd/build/onrampd.o/chrony.o: chrony.c ../lib/util.h \
 ../lib/exit.h chrony.h
../lib/util.h:
../lib/exit.h:
chrony.h:
