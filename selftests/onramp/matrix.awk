#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0
#
# Lines of robustness_matrix.sh to a table: matrix.awk -v kernel=RELEASE -v json=FILE TEXT...
# A line is WHAT case words, or RUN case flows mode pauses held acks goodput...
# Exits with 1 if a second is below the bar: 0.7 of mode off in the first two seconds, 0.95
# after them. Mode off in the same second counts, or, after the first two, its mean if that
# is less: what arrives late in one second is not missing in the next.
BEGIN {
	print "| case | flows | off, Mbit/s | final | lowest share, 2 s | after that | pauses |"
	print "|---|---|---|---|---|---|---|"
	printf "{\n  \"kernel\": \"%s\",\n  \"runs\": [", kernel >json
}

$1 == "WHAT" {
	name = $2
	sub(/^WHAT [^ ]+ /, "")
	what[name] = $0
	next
}

function min(a, b) {
	return a < b ? a : b
}

# mean FROM: of the fields from there on
function mean(from,  i, sum) {
	for (i = from; i <= NF; i++)
		sum += $i
	return NF >= from ? sum / (NF - from + 1) : 0
}

function series(from,  i, text) {
	for (i = from; i <= NF; i++)
		text = text (i > from ? ", " : "") $i
	return "[" text "]"
}

$1 == "RUN" && $4 == "off" {
	n = NF
	for (i = 8; i <= NF; i++)
		off[i] = $i + 0
	off_mean = mean(8)
	off_rest = mean(10)
	off_series = series(8)
	next
}

$1 == "RUN" {
	first = rest = 9.999
	for (i = 8; i <= n; i++) {
		least = i < 10 ? off[i] : min(off[i], off_rest)
		share = least > 0 ? $i / least : 1
		if (i < 10 && share < first)
			first = share
		if (i >= 10 && share < rest)
			rest = share
	}
	short = first < 0.7 || rest < 0.95
	failed += short
	runs++
	printf "| %s | %d | %.1f | %.1f | %.2f | %s%.2f%s | %d |\n", what[$2], $3, off_mean,
	       mean(8), first, short ? "**" : "", rest, short ? "**" : "", $5
	printf "%s\n    {\"case\": \"%s\", \"flows\": %d, \"off_mbit_s\": %s, \"final_mbit_s\": %s, ",
	       (runs > 1 ? "," : ""), $2, $3, off_series, series(8) >json
	printf "\"pauses\": %d, \"held\": %d, \"acks\": %d, \"share_first\": %.3f, ",
	       $5, $6, $7, first >json
	printf "\"share_rest\": %.3f, \"ok\": %s}", rest, short ? "false" : "true" >json
}

END {
	printf "\n  ]\n}\n" >json
	printf "\n%d of %d rows are above the bar, on %s.\n", runs - failed, runs, kernel
	exit failed > 0
}
