#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/podman, which has put Debian's podman into /podman/bin:
# containers of podman, in a network that podman makes, with its bridge and its NAT. The qdisc is on
# the host's NIC.
#
#	C eth0 ---- podman1 A a0 ---- b0 B podman1 ---- eth0 D
#	 10.89.3.2                                       10.89.4.2
. "$(dirname "$0")/workloads_lib.sh"

PATH=$KSFT_TMP/bin:$PATH:/podman/bin

settings() {
	mkdir -p "$KSFT_TMP/bin" "$KSFT_TMP/root/bin" /etc/containers /var/tmp
	# A container's file system: two static programs.
	cp /usr/bin/busybox /usr/bin/dcload "$KSFT_TMP/root/bin/"
	# netavark calls them by these names, and needs both.
	ln -s /usr/bin/xtables-nft-multi "$KSFT_TMP/bin/iptables"
	ln -s /usr/bin/xtables-nft-multi "$KSFT_TMP/bin/ip6tables"
	# podman starts only with a policy for images; there are none.
	echo '{ "default": [ { "type": "reject" } ] }' >/etc/containers/policy.json
	# cgroups: the VM has no systemd that would make them.
	# seccomp: filters cost each system call, and are not what is tested.
	# no_pivot_root: the kernel allows none to who has the initramfs as root.
	# log_driver, events_logger: there is no journal.
	cat >/etc/containers/containers.conf <<-END
		[containers]
		cgroups = "disabled"
		seccomp_profile = "unconfined"
		log_driver = "none"
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "none"
		no_pivot_root = true
		runtime = "crun"
		helper_binaries_dir = ["/podman/bin"]
		conmon_path = ["/podman/bin/conmon"]
		[engine.runtimes]
		crun = ["/podman/bin/crun"]
		[network]
		network_backend = "netavark"
	END
	# vfs: a container from a directory has no layers, so overlayfs would have nothing to do. Where
	# storage is podman_of says, but it has to be here.
	cat >/etc/containers/storage.conf <<-END
		[storage]
		driver = "vfs"
		runroot = "$KSFT_TMP/none"
		graphroot = "$KSFT_TMP/none"
	END
}

# podman_of HOST ARG...: the podman of this host. Each has its own containers and networks.
podman_of() {
	local host=$1 of=$KSFT_TMP/podman-$1
	shift

	in_ns "$host" podman --storage-driver vfs --root "$of/root" --runroot "$of/run" \
		--tmpdir "$of/tmp" --network-config-dir "$of/networks" "$@"
}

# network HOST SUBNET: one of this host's podman, with NAT; without a server of names.
network() {
	mkdir -p "$KSFT_TMP/podman-$1/networks"
	podman_of "$1" network create --disable-dns --subnet "$2" net >/dev/null
}

# container HOST NAME [OPTION...] -- COMMAND...: sets NETNS to its namespace, as ip calls it.
container() {
	local host=$1 name=$2 options=()
	shift 2

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	podman_of "$host" run -d --name "$name" --network net "${options[@]}" \
		--rootfs "$KSFT_TMP/root" "$@" >/dev/null
	NETNS=$(podman_of "$host" inspect -f '{{.NetworkSettings.SandboxKey}}' "$name")
	NETNS=${NETNS##*/}
}

# no_container HOST NAME
no_container() {
	podman_of "$1" rm -f -t 0 "$2" >/dev/null
}

# client NAMESPACE OPTION...: that of C by podman, in the container.
client() {
	local name=$1
	shift

	[ "$name" = "$C" ] || exec dcload client --netns "$name" --rtt-sample-us 0 "$@"
	podman_of "$A" exec "c$KSFT_RAN" dcload client --rtt-sample-us 0 "$@"
}

# with_c COMMAND...: while there is the container C, another one in each case.
with_c() {
	local NETNS

	container "$A" "c$KSFT_RAN" -- busybox sleep 1000
	C=$NETNS
	"$@"
	no_container "$A" "c$KSFT_RAN"
}

# The path is 3 s long, whatever is done; without or_acker.
held() {
	fresh forward on peers all owd synced nobound threshold 500ms ack_timeout 10s \
		max_pause 10ms
	acker delay 3000000
	client "$C" --to $B4 --flows 2 --duration 1 --json /load.json
	acker delay 0
	shot
	asked $B4 $V4_A
	expect pauses "$(shown pauses)" -gt 5
	expect "packets held" "$(shown held)" -gt 5
	expect pause_max_ns "$(shown pause_max_ns)" -ge 10000000
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(dcload get "$KSFT_TMP/root/load.json" goodput_bit_s)" -gt 0
	echo "measured: $(shown pauses) pauses, $(shown held) packets held"
}

# To B, in the host's name, since podman masquerades.
sends() {
	answered "$C" $B4 $V4_A
	expect forwarded "$FORWARDED" -ge 2
}

# A published port: B translates it to D's, by podman's rules.
published() {
	local before

	container "$B" d -p 7000:5001 -- dcload server --port 5001
	answered_if_on $V4_A
	before=$(acker_of "$B" FlowsForwarded)
	# And from one container to the other.
	answered "$C" $B4 $V4_A --port 7000
	expect FlowsForwarded "$(acker_of "$B" FlowsForwarded)" -ge $((before + 2))
	ns_set "$B" or_acker/forward off
	no_container "$B" d
}

ksft_plan 3
need_module sch_onramp
settings
quiet_pair
network "$A" 10.89.3.0/24
network "$B" 10.89.4.0/24
serve "$B"
acker_start
ksft_case "a pause holds the data of podman's container" with_c held
stop "$ACKER" KILL
need_module nic_ts
need_module or_acker
for name in "$A" "$B"; do
	ns_set "$name" or_acker/busy_share 0
done
ksft_case "podman's container to host" with_c sends
ksft_case "host, and podman's container, to a port that podman publishes" \
	with_c published
