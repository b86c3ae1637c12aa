// SPDX-License-Identifier: GPL-2.0
/*
 * What the long tests do to the machine that no shell can:
 *
 *	long_helper step SECONDS	CLOCK_REALTIME, by a fraction, also backwards
 *	long_helper slew PPM		the rate of the system's clocks, -500 to 500
 *	long_helper tai SECONDS		CLOCK_TAI less CLOCK_REALTIME
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

static int die(const char *what)
{
	fprintf(stderr, "long_helper: %s: %s\n", what, strerror(errno));
	return 1;
}

static int step(double seconds)
{
	struct timespec ts;
	long long ns;

	if (clock_gettime(CLOCK_REALTIME, &ts))
		return die("CLOCK_REALTIME");
	ns = ts.tv_sec * 1000000000LL + ts.tv_nsec + (long long)(seconds * 1e9);
	ts.tv_sec = ns / 1000000000;
	ts.tv_nsec = ns % 1000000000;
	return clock_settime(CLOCK_REALTIME, &ts) ? die("clock_settime") : 0;
}

static int adjust(unsigned int modes, long freq, long constant)
{
	struct timex tx = { .modes = modes, .freq = freq, .constant = constant };

	return adjtimex(&tx) < 0 ? die("adjtimex") : 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "step"))
		return step(atof(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "slew"))
		return adjust(ADJ_FREQUENCY, atol(argv[2]) * 65536, 0);
	if (argc == 3 && !strcmp(argv[1], "tai"))
		return adjust(ADJ_TAI, 0, atol(argv[2]));
	fputs("usage: long_helper step|slew|tai NUMBER\n", stderr);
	return 2;
}
