# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Choose kernel and accelerator, and judge a finished run. Sourced by
# tools/vm/run.

# vm_find_kernel: sets image (for QEMU), kver and modroot from --kernel.
vm_find_kernel()
{
	local vmlinuz

	if [ -d "$kernel" ]; then
		vmlinuz=$(vm_only "$kernel"/boot/vmlinuz-*) ||
			die "$kernel/boot must hold exactly one vmlinuz-*"
		modroot=${modules:-$kernel}
	elif [ -f "$kernel" ]; then
		vmlinuz=$kernel
		[ -n "$modules" ] ||
			die "--kernel $kernel is an image: give --modules DIR as well"
		modroot=$modules
	else
		vmlinuz=$("$top/tools/kernel" "$kernel" --vmlinuz) || exit 125
		modroot=$modules
		[ -n "$modroot" ] ||
			modroot=$("$top/tools/kernel" "$kernel" --modroot) || exit 125
	fi
	kver=$(vm_only "$modroot"/lib/modules/*) ||
		die "$modroot/lib/modules must hold exactly one release"
	kver=${kver##*/}
	image=$(vm_unpack_kernel "$vmlinuz")
}

# vm_choose_arch: sets arch, sysroot (of a foreign architecture's programs), cc (a compiler for
# it), qemu, and the machine with its serial ports, the console first.
vm_choose_arch()
{
	local serial="-chardev file,id=con,path=$work/console.log
		-chardev stdio,id=out,signal=off,logfile=$work/output.log
		-chardev file,id=res,path=$work/results.tar.gz -serial chardev:con"

	# "ARM\x64" marks the header of arm64's images.
	if [ "$(od -An -tx1 -j 56 -N 4 "$image" | tr -d ' ')" = 41524d64 ]; then
		arch=aarch64 console=ttyAMA0
		"$top/tools/setup" --quiet arm64 || exit 125
		sysroot=$cache/arm64/root
		cc=("$cache/cross/usr/bin/aarch64-linux-gnu-gcc-12" "--sysroot=$sysroot")
		machine=(-M "virt,gic-version=3" -semihosting-config "enable=on,userspace=on")
		serial+=" -device pci-serial,chardev=out -device pci-serial,chardev=res"
	else
		arch=x86_64 console=ttyS0 sysroot=
		cc=("$CC")
		machine=(-M q35 -device "isa-debug-exit,iobase=0xf4,iosize=1")
		serial+=" -serial chardev:out -serial chardev:res"
	fi
	# shellcheck disable=SC2206	# words
	machine+=($serial)
	qemu=$(vm_find_tool "qemu-system-$arch") ||
		die "qemu-system-$arch is missing: run tools/setup vm"
}

vm_only()
{
	[ $# -eq 1 ] && [ -e "$1" ] && echo "$1"
}

# vm_u IMAGE OFFSET SIZE: little endian number in the x86 boot header.
vm_u()
{
	od -An "-tu$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# vm_unpack_kernel IMAGE: the ELF image inside a bzImage, cached. QEMU starts it
# at its PVH entry, which saves the guest from unpacking itself (0.6 to 1 s
# under TCG). Falls back on the bzImage where the format is another.
vm_unpack_kernel()
{
	local img=$1 key elf off len unpack

	# "HdrS" marks the boot header.
	if [ "$(head -c $((0x206)) "$img" | tail -c 4)" != HdrS ]; then
		echo "$img"
		return
	fi
	key=$(vm_stat_key "$img" | sha256sum | cut -c1-16)
	elf=$vm_cache/vmlinux-$key
	if [ -s "$elf" ]; then
		touch -c "$elf"
		echo "$elf"
		return
	fi
	# setup_sects, payload_offset, payload_length of the boot protocol; the
	# payload's last four bytes are its unpacked size.
	off=$((($(vm_u "$img" $((0x1f1)) 1) + 1) * 512 + $(vm_u "$img" $((0x248)) 4)))
	len=$(($(vm_u "$img" $((0x24c)) 4) - 4))
	case $(od -An -tx1 -j "$off" -N 4 "$img" | tr -d ' ') in
	1f8b*)		unpack="gzip -dc" ;;
	28b52ffd)	unpack="zstd -qdc" ;;
	02214c18)	unpack="lz4 -qdc" ;;
	fd377a58)	unpack="xz -dc" ;;
	*)		unpack= ;;
	esac
	# lz4 is not among the packages every machine has.
	if [ -z "$unpack" ] || ! vm_find_tool "${unpack%% *}" >/dev/null ||
	   ! head -c "$((off + len))" "$img" | tail -c "$len" | $unpack >"$work/elf" ||
	   [ "$(od -An -tx1 -N 4 "$work/elf" | tr -d ' ')" != 7f454c46 ]; then
		rm -f "$work/elf"
		echo "$img"
		return
	fi
	mv "$work/elf" "$elf"
	find "$vm_cache" -maxdepth 1 -name 'vmlinux-*' -mtime +14 -delete
	echo "$elf"
}

# How long a probe boot under KVM may take, and how long its result is believed.
vm_kvm_limit_s=8
vm_kvm_believe_s=86400

# vm_kvm_works: true if this very kernel has reached init under KVM on this
# machine. A /dev/kvm that opens is no proof: some hang the guest for ever.
vm_kvm_works()
{
	local file age

	file=$vm_cache/kvm-$( { uname -srn; vm_stat_key "$qemu" "$image"; } |
			      sha256sum | cut -c1-16)
	if [ -s "$file" ]; then
		age=$(($(date +%s) - $(stat -c %Y "$file")))
		if [ "$age" -lt "$vm_kvm_believe_s" ]; then
			[ "$(cat "$file")" = works ]
			return
		fi
	fi
	note "KVM: trying a boot, for $vm_kvm_limit_s s at most"
	timeout -k 2 "$vm_kvm_limit_s" "$qemu" -M q35 -accel kvm -cpu host \
		-smp "$cpus" -m "$mem" -nodefaults -no-reboot -display none \
		-kernel "$image" -initrd "$base" -append "console=ttyS0 panic=-1" \
		-device isa-debug-exit,iobase=0xf4,iosize=1 \
		-serial "file:$work/probe.log" </dev/null >/dev/null 2>&1 || :
	if grep -aq '^vm-probe: init runs' "$work/probe.log" 2>/dev/null; then
		echo works >"$work/probe"
	else
		echo hangs >"$work/probe"
	fi
	mv "$work/probe" "$file"
	[ "$(cat "$file")" = works ]
}

# vm_choose_accel: sets accel and cpu; says which and why.
vm_choose_accel()
{
	local why

	# With the CPU max TCG leaves its compiled code at each STAC and CLAC (SMAP), and looks up
	# more at each switch of address spaces (PCID, five levels of page tables).
	accel=(-accel "tcg,thread=multi") cpu=Nehalem-v1,+rdrand,+rdseed
	if [ -n "$icount" ]; then
		accel=(-accel "tcg,thread=single" -icount "shift=$icount,sleep=off"
		       -rtc "base=2026-01-01,clock=vm" -seed 1)
		note "TCG, virtual time: $((1000 >> icount)) guest MIPS (--icount)"
		[ "$arch" = x86_64 ] || cpu=neoverse-n1
		return
	fi
	if [ "$arch" != "$(uname -m)" ] || [ "$arch" != x86_64 ]; then
		cpu=neoverse-n1
		note "TCG: a kernel for $arch"
		return
	fi
	case ${ONRAMP_KVM:-auto} in
	0)	why="ONRAMP_KVM=0" ;;
	1)	why=
		[ -w /dev/kvm ] || die "ONRAMP_KVM=1, but /dev/kvm can't be opened" ;;
	auto)	if [ ! -e /dev/kvm ]; then
			why="there is no /dev/kvm"
		elif [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
			why="no permission for /dev/kvm"
		elif vm_kvm_works; then
			why=
		else
			why="this kernel did not boot within $vm_kvm_limit_s s under KVM"
		fi ;;
	*)	die "ONRAMP_KVM must be 0, 1 or auto, not '$ONRAMP_KVM'" ;;
	esac
	if [ -z "$why" ]; then
		accel=(-accel kvm) cpu=host
		note "KVM: a probe boot of this kernel succeeded"
	else
		note "TCG: $why"
	fi
}

# vm_insns_plugin: sets plugin, that of --insns, for this QEMU. Its versions from 9 on take none that
# is older than 2, and those before 8.2 none that is newer than 1.
vm_insns_plugin()
{
	local api=1 version

	version=$("$qemu" --version | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
	[ -n "$version" ] || die "$qemu does not say its version"
	[ "$version" -lt 9 ] || api=2
	plugin=$work/insns.so
	"$CC" -O2 -Wall -shared -fPIC -DAPI=$api -o "$plugin" "$vm_dir/insns.c" ||
		die "tools/vm/insns.c does not compile"
}

# What QEMU returns when the guest's init ended it.
vm_exit_ok=85

vm_fail()
{
	note "FAIL: $*"
	failed=1
}

# vm_judge RC: decide the run from QEMU's status and the console, then exit.
vm_judge()
{
	local rc=$1 last status faults failed=0

	# A cable between two NICs of the guest is not meant to lead to the host.
	[ ! -s "$work/qemu.err" ] || sed -e '/hub [0-9]* is not connected to host network/d' \
		-e 's/^/vm: qemu: /' "$work/qemu.err" >&2
	touch "$work/console.log" "$work/output.log"
	tr -d '\r' <"$work/console.log" >"$work/console.txt"
	last=$(tail -n 1 "$work/console.txt" | tr -d '\0')
	status=125
	if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
		vm_fail "no verdict within ${limit} s, the guest hangs"
		# What the kernel says of a CPU that has stopped may be above the tail.
		grep -aE 'rcu: |soft lockup|hard LOCKUP|NMI backtrace|RIP: ' "$work/console.txt" |
			tail -n 20 | sed 's/^/vm: /' >&2 || :
	elif grep -aq 'Kernel panic' "$work/console.txt"; then
		vm_fail "kernel panic"
		# The cause may be above the tail.
		grep -aE 'BUG:|kernel BUG at|Oops|general protection|Kernel panic' \
			"$work/console.txt" | head -n 5 | sed 's/^/vm: /' >&2
	elif [ "$rc" = 0 ]; then
		vm_fail "the guest went down before the verdict"
	elif [ "$rc" != "$vm_exit_ok" ]; then
		vm_fail "qemu ended with status $rc"
	elif [[ $last =~ ^vm-verdict:\ $nonce\ status\ ([0-9]+)\ faults\ ([0-9]+)$ ]]; then
		status=${BASH_REMATCH[1]}
		faults=${BASH_REMATCH[2]}
		if [ "$faults" != 0 ]; then
			vm_fail "$faults fault(s) found after the command (status $status)"
			grep -a -E '^vm-(fault|kmemleak):' "$work/console.txt" |
				sed 's/^/vm: /' >&2
		fi
	else
		vm_fail "the console log ends without a verdict"
	fi
	# They fail nothing, and are not to be hidden either.
	grep -a '^vm-race:' "$work/console.txt" | sed 's/^/vm: /' >&2 || :

	if [ -n "$out" ]; then
		if [ -s "$work/results.tar.gz" ] &&
		   ! tar -xzf "$work/results.tar.gz" --no-same-owner -C "$out"; then
			vm_fail "/results did not arrive whole"
		fi
		cp "$work/console.txt" "$out/console.log"
		cp "$work/output.log" "$out/output.log"
	fi
	if [ "$failed" = 1 ]; then
		note "last lines of the console:"
		tail -n 40 "$work/console.txt" | tr -d '\0' | sed 's/^/vm| /' >&2
		status=125
	fi
	note "$kver, $((elapsed_ms / 1000)).$((elapsed_ms % 1000 / 100)) s, status $status"
	[ "$ktap" = 0 ] || vm_judge_ktap "$status"
	exit "$status"
}

# vm_judge_ktap STATUS: the report in the output, with the run itself as one more
# test at its end: it is the one that knows of a panic or a leak.
vm_judge_ktap()
{
	local args=(--kernel "$kver") sum rc=0

	[ -z "$allow" ] || args+=(--allow "$allow")
	[ "$nested" = 0 ] || args+=(--nested)
	[ -z "$out" ] || args+=(--json "$out/results.json")
	"$top/tools/ktap" "${args[@]}" "$work/output.log" >"$work/sum" || rc=$?
	sed '$d' "$work/sum"
	sum=$(tail -n 1 "$work/sum")
	[[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] ||
		die "tools/ktap did not judge the report (status $rc)"
	set -- "$1" "${BASH_REMATCH[@]:1}"
	# A status without a failed test is a failure that no test told of.
	if [ "$1" = 125 ] || { [ "$1" != 0 ] && [ "$3" = 0 ]; }; then
		set -- "$1" "$2" "$(($3 + 1))" "$4"
		echo "FAIL vm: the run ended with status $1"
	fi
	echo "$2 passed, $3 failed, $4 skipped"
	[ "$3" = 0 ] || exit "$((status ? status : 1))"
}
