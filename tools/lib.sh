# SPDX-License-Identifier: GPL-2.0
# Helpers shared by the shell tools; source it after `set -eu`.
# shellcheck shell=sh

# Prefix of every message; a tool may override it before or after sourcing.
: "${PROG:=$(basename "$0")}"

# Everything that is downloaded or slow to make lives here, shared by clones.
: "${CACHE:=${ONRAMP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/onramp}}"

# Cross compilers are there, see tools/setup.
PATH=$PATH:$CACHE/cross/usr/bin

# say MESSAGE...: a progress line for a person, on stderr.
say() {
	printf '%s: %s\n' "$PROG" "$*" >&2
}

# die MESSAGE...: one sentence, then exit 1.
die() {
	say "$*"
	exit 1
}

# have COMMAND: true if COMMAND can be run.
have() {
	command -v "$1" >/dev/null 2>&1
}

# is_root: true when running with user id 0.
is_root() {
	[ "$(id -u)" -eq 0 ]
}

# njobs: number of parallel jobs that suits this machine, if JOBS does not say it.
njobs() {
	[ -z "${JOBS:-}" ] || { echo "$JOBS"; return; }
	getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}

# update_file PATH: replace PATH by stdin only if the content differs, so that
# make does not rebuild files that depend on it.
update_file() {
	cat >"$1.tmp"
	if cmp -s "$1.tmp" "$1"; then
		rm -f "$1.tmp"
	else
		mv -f "$1.tmp" "$1"
	fi
}
