/* SPDX-License-Identifier: GPL-2.0 */
/*
 * baseline_core.h in double precision, in another way: all shortest ways at once, by Floyd and
 * Warshall, and floors by counting.
 */
#ifndef _BASELINE_MODEL_H
#define _BASELINE_MODEL_H

#define MODEL_HOSTS	64
#define MODEL_LINES	1024
#define MODEL_CLASSES	64

struct model_line {
	int from, to, class, clean;
	double ns, error_ns;
};

/*
 * What is not known is infinite; bounds are with errors. The floors of before are what is put in,
 * those of the lines come out.
 */
struct baseline_model {
	double floor_ns[MODEL_CLASSES];
	double floor_error_ns[MODEL_CLASSES];
	int firm[MODEL_CLASSES];
	double upper_ns[MODEL_HOSTS];
	double lower_ns[MODEL_HOSTS];
	int left_out[MODEL_HOSTS];	/* put in: others' lines from and to it do not count */
	int fits, all_fit;		/* there is no circle below 0, also with those */
	int circled[MODEL_HOSTS];	/* it is on one, with those */
};

void baseline_model(const struct model_line *lines, int n, struct baseline_model *m);

#endif /* _BASELINE_MODEL_H */
