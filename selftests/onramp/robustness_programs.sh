#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/programs, which has put Debian's programs into
# /programs: robustness_programs.sh FILE CC PLACE... writes a line "RUN place program qdisc number"
# to FILE for each run. SYSCTLS has settings of both hosts, NAME=VALUE. With VERSUS both are
# over fq, "qdisc" in the line is a congestion control, and VERSUS is the first.
#
# The servers are on B. Both hosts have the same qdisc and congestion control.
# shellcheck source=selftests/onramp/robustness_lib.sh
. "$(dirname "$0")/robustness_lib.sh"

out=$1 cc=$2
shift 2

export PATH=$PATH:/programs/bin LD_LIBRARY_PATH=/programs/lib

PROGRAMS='nginx_1k nginx_10m redis_get iperf3_1 iperf3_8 iperf3_1_back iperf3_8_back'

# Seconds of each run, and requests of redis-benchmark, which knows no time.
SECONDS_EACH=${ROBUST_SECONDS:-4}
declare -A REQUESTS=([veth]=12000 [wan]=8000 [shaped]=12000)

ksft_plan $#
for module in or_acker sch_onramp; do
	need_module $module
done
[ "$cc" != timely ] || need_module tcp_timely

# The qdiscs of A and B ------------------------------------------------------

# host_qdisc PLACE NAMESPACE DEVICE QDISC
host_qdisc() {
	local parent=root

	if [ "$1" = shaped ]; then
		tc -n "$2" qdisc add dev "$3" root handle 2: tbf rate 50mbit burst 20000 \
			limit 1000000
		parent='parent 2:1'
	fi
	# shellcheck disable=SC2086
	tc -n "$2" qdisc add dev "$3" $parent handle 1: "$4"
}

# hosts PLACE QDISC CC
hosts() {
	local name setting

	ROBUST_RUNS=$((ROBUST_RUNS + 1))
	A=$(ns_name "A$ROBUST_RUNS") B=$(ns_name "B$ROBUST_RUNS") R=$(ns_name "R$ROBUST_RUNS")
	TO=$B4
	case $1 in
	wan)	router_net 100mbit 10ms 250
		tc -n "$R" qdisc change dev r0 root netem delay 10ms rate 100mbit limit 250 ;;
	*)	quiet_pair ;;
	esac
	host_qdisc "$1" "$A" a0 "$2"
	host_qdisc "$1" "$B" b0 "$2"
	for name in "$A" "$B"; do
		ns_set "$name" ipv4/tcp_congestion_control "$3"
		for setting in ${SYSCTLS:-}; do
			in_ns "$name" sysctl -q -w "$setting"
		done
	done
}

no_hosts() {
	local name

	for name in "$A" "$B" "$R"; do
		[ ! -e "/run/netns/$name" ] || ns_del "$name"
	done
}

# Programs: each says its number, of requests or of Mbit in a second ------------

server_nginx() {
	mkdir -p "$KSFT_TMP/www" "$KSFT_TMP/nginx"
	head -c 1024 /dev/zero >"$KSFT_TMP/www/1k"
	head -c 10485760 /dev/zero >"$KSFT_TMP/www/10m"
	cat >"$KSFT_TMP/nginx.conf" <<-END
		daemon off;
		master_process off;
		pid $KSFT_TMP/nginx/pid;
		events { }
		http {
			access_log off;
			sendfile on;
			tcp_nopush on;
			keepalive_requests 1000000;
			client_body_temp_path $KSFT_TMP/nginx/body;
			proxy_temp_path $KSFT_TMP/nginx/proxy;
			fastcgi_temp_path $KSFT_TMP/nginx/fastcgi;
			uwsgi_temp_path $KSFT_TMP/nginx/uwsgi;
			scgi_temp_path $KSFT_TMP/nginx/scgi;
			server { listen 5001; root $KSFT_TMP/www; }
		}
	END
	exec ip netns exec "$B" nginx -e stderr -c "$KSFT_TMP/nginx.conf"
}

server_redis() {
	cd "$KSFT_TMP" || return
	exec ip netns exec "$B" redis-server --port 5001 --bind "$TO" --protected-mode no \
		--save '' --appendonly no
}

server_iperf3() {
	exec ip netns exec "$B" iperf3 -s -p 5001
}

# wrk PATH CONNECTIONS
run_wrk() {
	in_ns "$A" wrk -t 1 -c "$2" -d "${SECONDS_EACH}s" --timeout 20s "http://$TO:5001/$1"
}

client_nginx_1k() {
	run_wrk 1k 8 | awk '$1 == "Requests/sec:" { print $2 }'
}

client_nginx_10m() {
	run_wrk 10m 4 | awk '$1 == "Transfer/sec:" {
		unit = 1
		if ($2 ~ /KB$/) unit = 1024
		if ($2 ~ /MB$/) unit = 1024 * 1024
		if ($2 ~ /GB$/) unit = 1024 * 1024 * 1024
		printf "%.2f\n", $2 * unit * 8 / 1e6 }'
}

client_redis_get() {
	in_ns "$A" redis-benchmark -h "$TO" -p 5001 -t get -c 50 -n "${REQUESTS[$1]}" -q --csv |
		awk -F'"' '$2 == "GET" { print $4 }'
}

# run_iperf3 FLOWS [OPTION...]: what arrives, after the first second.
run_iperf3() {
	local flows=$1
	shift

	in_ns "$A" iperf3 -c "$TO" -p 5001 -f m -O 1 -t "$SECONDS_EACH" -P "$flows" "$@" |
		awk -v flows="$flows" '/receiver$/ && (flows == 1 || /SUM/) {
			for (i = 2; i <= NF; i++)
				if ($i == "Mbits/sec")
					print $(i - 1)
		}'
}

client_iperf3_1() {
	run_iperf3 1
}

client_iperf3_8() {
	run_iperf3 8
}

client_iperf3_1_back() {
	run_iperf3 1 -R
}

client_iperf3_8_back() {
	run_iperf3 8 -R
}

# What a way of writing costs a flow; only if ONLY names them.
server_dcload() {
	exec dcload server --netns "$B"
}

# run_dcload [OPTION...]
run_dcload() {
	dcload client --netns "$A" --to "$TO" --warmup 0.5 --duration "$SECONDS_EACH" \
		--rtt-sample-us 0 --json - "$@" |
		awk -F'[:,]' '/"goodput_bit_s"/ { printf "%.1f\n", $2 / 1e6; exit }'
}

client_dcload_plain() {
	run_dcload
}

client_dcload_zerocopy() {
	run_dcload --zerocopy
}

client_dcload_sendfile() {
	run_dcload --sendfile
}

client_dcload_ktls() {
	run_dcload --ktls
}

# one PLACE PROGRAM QDISC, or CC with VERSUS
one() {
	local number

	if [ -n "${VERSUS:-}" ]; then
		hosts "$1" fq "$3"
	else
		hosts "$1" "$3" "$cc"
	fi
	spawn "server_${2%%_*}"
	wait_for 20 listening "$B"
	number=$(client_"$2" "$1")
	stop "$SPAWNED" KILL
	no_hosts
	[ -n "$number" ]
	echo "RUN $1 $2 $3 $number" >>"$out"
	echo "measured: $2 $3: $number"
}

place() {
	local program qdisc

	for program in ${ONLY:-$PROGRAMS}; do
		for qdisc in $kinds; do
			one "$1" "$program" "$qdisc"
		done
	done
}

kinds='fq onramp'
[ -z "${VERSUS:-}" ] || kinds="$VERSUS $cc"
robust_settle
for name; do
	ksft_case "$name" place "$name"
done
