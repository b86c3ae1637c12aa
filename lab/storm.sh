# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A scenario in which something changes again and again. Sourced by experiments.

# lab_storm SEED FILE: every 0.2 to 2 s one line of stdin, at random by the seed, until it is
# killed. A line is a command, or COMMAND|FROM|TO|UNIT, which is called with a number between FROM
# and TO and the unit behind it: from a logarithmic scale if both are above 0. What was called goes
# to FILE, each line with the seconds until the next.
lab_storm() {
	awk -F '|' -v seed="$1" '
		function log_uniform(from, to)
		{
			return from * exp(rand() * log(to / from))
		}
		{
			line[NR] = $0
		}
		END {
			srand(seed)
			for (i = 0; i < 1000; i++) {
				$0 = line[int(rand() * NR) + 1]
				if (NF > 1 && $2 + 0 > 0)
					value = log_uniform($2, $3)
				else if (NF > 1)
					value = $2 + rand() * ($3 - $2)
				if (NF > 1)
					$0 = $1 sprintf("%.0f", value) $4
				printf("%.2f %s\n", log_uniform(0.2, 2), $0)
			}
		}' >"$2"
	while read -r _after _event; do
		$_event
		sleep "$_after"
	done <"$2"
}
