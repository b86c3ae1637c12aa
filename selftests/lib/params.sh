#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A directory of sysctls that include/net_params.h makes: what the tests of each share.
# Source it after onramp.sh, set dir to the directory below /proc/sys/net, and call
# params_table.

table=$KSFT_TMP/table

# params_table PROGRAM: rows "name min max default [words]" go to $table, and the defaults,
# sorted, to $KSFT_TMP/defaults. The program prints the module's own list.
params_table() {
	"$KSFT_DIR/$1" >"$table"
	awk '{ print $1, $4 }' "$table" | sort >"$KSFT_TMP/defaults"
}

# in_shell NAME SCRIPT [ARG...]: many accesses for the price of one process. The script
# may call check NAME VALUE, which writes a value and reads it back, and bad NAME VALUE,
# which expects a refusal and adds one to n.
in_shell() {
	local name=$1 script=$2
	shift 2

	in_ns "$name" bash -euc "cd /proc/sys/net/$dir
	"'
	n=0
	check() {
		echo "$2" >"$1" || { echo "$1=$2 is refused"; exit 1; }
		read -r got <"$1"
		[ "$got" = "$2" ] || { echo "$1=$2 reads $got"; exit 1; }
	}
	bad() {
		if printf "%b" "$2" 2>/dev/null >"$1"; then
			echo "$1 took <$2> and is now $(cat "$1")"; exit 1
		fi
		n=$((n + 1))
	}
	'"$script" bash "$@"
}

# values NAME: all parameters of a namespace, one "name value" per line.
values() {
	in_shell "$1" 'for f in *; do read -r value <"$f"; echo "$f $value"; done'
}

# expect_defaults NAME: each parameter is there, and no other, with its default.
expect_defaults() {
	values "$1" | diff - "$KSFT_TMP/defaults"
}

# defaults: the same of both ends.
defaults() {
	expect_defaults "$A"
	expect_defaults "$B"
}

# only_root_writes PARAMETER VALUE: anybody may read it.
only_root_writes() {
	expect_same "the files' modes" "$(in_shell "$A" 'stat -c %a * | sort -u')" 644
	refused in_ns "$A" "$KSFT_DIR/timely_helper" user 65534 \
		bash -c "echo $2 >/proc/sys/net/$dir/$1"
	in_ns "$A" "$KSFT_DIR/timely_helper" user 65534 cat "/proc/sys/net/$dir/$1"
	expect_defaults "$A"
}
