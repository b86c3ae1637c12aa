# SPDX-License-Identifier: GPL-2.0
# Machines with Debian 12, its kernel, systemd, ssh and podman, for tests of what deploys the
# modules on many hosts. The modules are built for that kernel and are there, but not loaded: DKMS
# would build for minutes in an emulated machine, and make check-packages tests it. Source it as
# root after `set -euo pipefail`, with PROG set.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/tools/lib.sh"
is_root || die 'it makes trees and changes root: run it as root'

# What both tests have, and what one of them says.
shared=$top/build/fleets
tree=$shared/tree
disk=$shared/disk.img
key=$shared/key
fleets=$shared/$PROG
n=0 failed=0 pids=
mkdir -p "$fleets"

# check NAME COMMAND...: a line of the report. The first command that fails ends it.
check() {
	local name=$1 status=0
	shift

	n=$((n + 1))
	# In a condition it would run without `set -e`.
	set +e
	(set -e; "$@") >"$fleets/said" 2>&1
	status=$?
	set -e
	if [ "$status" -eq 0 ]; then
		echo "ok $n $name"
	else
		tail -n 30 "$fleets/said" | sed 's/^/# /'
		echo "not ok $n $name"
		failed=$((failed + 1))
	fi
	cat "$fleets/said" >>"$log"
}

# report: the end of the report, and the status.
report() {
	echo "1..$n"
	echo "$((n - failed)) passed, $failed failed"
	[ "$failed" = 0 ]
}

# in_tree COMMAND...: as root of the tree.
in_tree() {
	# shellcheck disable=SC2016	# for the shell inside
	unshare --mount --pid --fork --kill-child sh -c '
		set -e
		mount --bind /dev "$0/dev"
		mount -t proc proc "$0/proc"
		[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$0/etc/"
		exec chroot "$0" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$tree" "$@"
}

# networks: eth0 reaches this machine, eth1 the other one. Its address follows from that of
# the card.
networks() {
	local i

	printf '[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n' >"$tree/etc/systemd/network/eth0.network"
	for i in 1 2; do
		printf '[Match]\nMACAddress=52:54:00:00:01:0%s\n[Network]\nAddress=192.0.2.%s/24\n' \
			$i $i >"$tree/etc/systemd/network/eth1-$i.network"
	done
}

# What the tree has besides: to build modules and tools, and to install packages of both kinds.
packages='linux-image-cloud-amd64 linux-headers-cloud-amd64 systemd-sysv dbus openssh-server python3 python3-apt kmod
	gcc make iproute2 procps network-manager libnl-genl-3-200 libjansson4 podman crun rpm dnf createrepo-c xz-utils pkg-config
	libc6-dev libnl-3-dev libnl-genl-3-dev libjansson-dev libsystemd-dev libssl-dev'
based=$CACHE/trees/fleets-$(echo "$packages" | cksum | cut -d ' ' -f 1).tar

# base: a tree with all but the packages of this one, packed in the cache.
base() {
	[ ! -e "$based" ] || return 0
	"$top/tools/setup" --quiet tree-bookworm
	tar -xf "$CACHE/trees/bookworm.tar" -C "$tree"
	in_tree apt-get -q update || say 'some package lists could not be updated'
	# shellcheck disable=SC2086	# words
	in_tree apt-get -q -y --no-install-recommends install $packages
	networks
	in_tree systemctl enable systemd-networkd ssh
	in_tree systemctl mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer \
		systemd-networkd-wait-online.service dev-ttyS0.device NetworkManager.service
	: >"$tree/etc/fstab"
	rm -rf "$tree"/var/cache/apt/archives/*.deb
	rm -f "$CACHE"/trees/fleets*.tar
	tar -cf "$CACHE/trees/fleets.tmp" -C "$tree" .
	mv "$CACHE/trees/fleets.tmp" "$based"
}

# sources: a checksum of what packages and modules are made of.
sources() {
	(cd "$top" && find Kbuild compat include nic_ts or_* sch_* tcp_* tools/*/ tools/install packaging/debian \
		packaging/*.service packaging/dkms* packaging/*.spec packaging/rpm -type f | LC_ALL=C sort | xargs cat | sha256sum)
}

# debs: the packages, unless they are of these sources.
debs() {
	exec 8>"$shared/lock"
	flock 8
	[ "$(cat "$shared/debs.stamp" 2>/dev/null)" != "$(sources)" ] || return 0
	rm -f "$shared/debs.stamp"
	"$top/packaging/deb" "$shared/deb"
	sources >"$shared/debs.stamp"
}

# make_tree: the tree with the modules, and a disk with it, unless it is of these sources.
make_tree() {
	local kernel source

	exec 8>"$shared/lock"
	flock 8
	[ "$(cat "$shared/tree.stamp" 2>/dev/null)" != "$(sources)" ] || return 0
	rm -rf "$shared/tree.stamp" "$tree" "$disk"
	mkdir -p "$tree"
	base
	[ -e "$tree/etc" ] || tar -xf "$based" -C "$tree"
	# As by DKMS, but not where it would put them.
	kernel=$(basename "$(echo "$tree"/lib/modules/*)")
	source=$("$top/packaging/dkms-source" "$tree/usr/src")
	in_tree env "KVER=$kernel" O=/var/tmp/onramp "${source#"$tree"}/tools/kbuild" modules
	in_tree env "KVER=$kernel" O=/var/tmp/onramp "${source#"$tree"}/tools/kbuild" install
	rm -r "$source" "$tree/var/tmp/onramp"
	rm -f "$key" "$key.pub"
	ssh-keygen -q -t ed25519 -N '' -f "$key"
	mkdir -p -m 700 "$tree/root/.ssh"
	cp "$key.pub" "$tree/root/.ssh/authorized_keys"
	PATH=$PATH:/usr/sbin:/sbin mke2fs -q -t ext4 -d "$tree" "$disk" \
		"$(($(du -s --block-size=1M "$tree" | cut -f 1) + 1500))M"
	sources >"$shared/tree.stamp"
}

# rpms: the RPM packages in $shared/rpm, built in the tree, for its kernel; in $shared/rpm/repo a repository with a
# package in place of those that they need, which the tree has from Debian.
rpms() {
	local dir=$tree/var/tmp/rpm archive kernel

	[ "$(cat "$shared/rpms.stamp" 2>/dev/null)" != "$(sources)" ] || return 0
	rm -rf "$shared/rpms.stamp" "$shared/rpm" "$dir"
	mkdir -p "$dir/source"
	archive=$("$top/packaging/dist" "$dir")
	tar -xf "$archive" -C "$dir/source" --strip-components 1
	kernel=$(basename "$(echo "$tree"/lib/modules/*)")
	in_tree env "KVER=$kernel" HOME=/var/tmp/rpm /var/tmp/rpm/source/packaging/rpm /var/tmp/rpm/built
	# shellcheck disable=SC2016	# for the shell inside
	in_tree env HOME=/var/tmp/rpm sh -c '/var/tmp/rpm/source/selftests/packages/repository /var/tmp/rpm/repo \
		"$0" -- /var/tmp/rpm/built/RPMS/*.rpm' "kernel-devel-$kernel"
	mkdir "$shared/rpm"
	mv "$dir"/built/RPMS/*.rpm "$dir/repo" "$shared/rpm/"
	rm -r "$dir"
	sources >"$shared/rpms.stamp"
}

# boot NUMBER [OPTION]...: machine h1 or h2, with more options of QEMU's. What it writes to the disk is lost when it ends.
boot() {
	local kernel link=listen host=$1
	shift

	[ "$host" = 1 ] || link=connect
	kernel=$(echo "$tree"/boot/vmlinuz-*)
	qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 1 -m 1024 -nodefaults \
		-no-reboot -display none -kernel "$kernel" -initrd "${kernel/vmlinuz/initrd.img}" \
		-append "root=/dev/vda rw console=ttyS0 net.ifnames=0 systemd.hostname=h$host panic=-1 \
			oops=panic tsc=reliable no_timer_check rcupdate.rcu_cpu_stall_timeout=60" \
		-drive "file=$disk,format=raw,if=virtio,snapshot=on" \
		-netdev "user,id=a,hostfwd=tcp:127.0.0.1:$((port + host))-:22" -device virtio-net-pci,netdev=a \
		-netdev "socket,id=b,$link=127.0.0.1:$port" \
		-device "virtio-net-pci,netdev=b,mac=52:54:00:00:01:0$host" \
		-serial "file:$fleets/h$host.console" "$@" </dev/null >"$fleets/h$host.qemu" 2>&1 &
	pids="$pids $!"
}

ssh_options() {
	echo "-i $key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
		-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=20 -o IdentitiesOnly=yes"
}

# on NUMBER COMMAND: by a shell of that machine.
on() {
	local host=$1
	shift

	# shellcheck disable=SC2046	# words
	ssh -n $(ssh_options) -p $((port + host)) root@127.0.0.1 "$@"
}

# up NUMBER: wait for it.
up() {
	local i

	for i in $(seq 60); do
		! on "$1" true || return 0
		sleep 5
	done
	tail -n 20 "$fleets/h$1.console"
	return 1
}

off() {
	# shellcheck disable=SC2086	# a list
	[ -z "$pids" ] || kill $pids 2>/dev/null || :
	wait
}

# A port that is free, with the two after it.
port=$((20000 + $$ % 20000))
trap off EXIT
