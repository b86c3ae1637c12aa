# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What the programs have in common that run experiments one by one and keep what is done: benefit,
# chance, matrix, timely-matrix. They set top, the top of the tree, and chosen, the patterns of what to run.

# wanted NAME: it is like one of the patterns, or there is none.
wanted()
{
	local pattern

	[ ${#chosen[@]} -gt 0 ] || return 0
	for pattern in "${chosen[@]}"; do
		# shellcheck disable=SC2053	# it is a pattern
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

# sums PATH...: one sum of all files there.
sums()
{
	(cd "$top" && find "$@" -type f | LC_ALL=C sort | xargs sha256sum | sha256sum)
}

# has_key DIR KEY: the result in DIR follows from what KEY is of.
has_key()
{
	[ -f "$1/key" ] && [ "$(cat "$1/key")" = "$2" ]
}

# run_to DIR RESULT MOST NAME OPTION...: lab/run with these options, to DIR; sets status. False, with the
# last lines of its log on stderr, if its status is above MOST or there is no file RESULT. The caller keeps
# the key when all else is in DIR.
run_to()
{
	local dir=$1 result=$2 most=$3 name=$4
	shift 4

	mkdir -p "$dir"
	status=0
	# It empties DIR, so the log gets there afterwards.
	"$top/lab/run" --out "$dir" "$@" </dev/null >"$dir.log" 2>&1 || status=$?
	if [ "$status" -gt "$most" ] || [ ! -f "$dir/$result" ]; then
		tail -n 20 "$dir.log" >&2
		echo "$name ended with status $status" >&2
		return 1
	fi
	mv "$dir.log" "$dir/run.log"
}

# values FILE WORDS: of a result.json, which has one a line: "WORDS NAME VALUE".
values()
{
	sed -n "s/^\t\t\"\(.*\)\": \([-+0-9.e]*\),\{0,1\}$/$2 \1 \2/p" "$1"
}
