# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What the programs have in common that run experiments one by one and keep what is done: benefit,
# matrix, papers, timely-matrix. They set top, the top of the tree, and chosen, the patterns of what to run.

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
