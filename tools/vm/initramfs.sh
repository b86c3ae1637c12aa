# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The guest's root file system, sourced by tools/vm/run. It is a cpio archive in
# three concatenated parts (the kernel unpacks them one over the other):
#	base	 PID 1, busybox and real host binaries with their libraries
#	modules	 modules of modules.list, from the distribution's kernel package
#	run	 this project's modules, tools and tests, module index, command
# The first two are cached under a key made of all they are built from.

# Real binaries from the host, its static ones where it has both: those fork and start with fewer page
# faults. The rest is busybox. More of them comes by --add.
VM_TOOLS="bash dash ip tc ss bridge ethtool nft nstat kmod sysctl timeout ping"
VM_TOOLS+=" ptp4l phc2sys phc_ctl hwstamp_ctl xtables-nft-multi xtables-legacy-multi ipvsadm"
# Of iptables, the extensions that tests use.
VM_XTABLES="standard tcp comment conntrack mark MARK addrtype statistic DNAT MASQUERADE"
VM_TOOLS_OPTIONAL="tcpdump"
# Names under which kmod answers.
VM_KMOD_NAMES="modprobe insmod rmmod lsmod modinfo depmod"

vm_find_tool()
{
	PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1"
}

# Root of a foreign architecture's programs, see vm_choose_arch; else this machine's are used.
sysroot=

# vm_guest_tool NAME: a program for the guest.
vm_guest_tool()
{
	local dir

	[ -n "$sysroot" ] || { vm_find_tool "$1"; return; }
	for dir in usr/bin usr/sbin; do
		[ ! -x "$sysroot/$dir/$1" ] || { echo "$sysroot/$dir/$1"; return; }
	done
	return 1
}

# vm_foreign_libs FILE...: as vm_libs, of an architecture that ldd doesn't know, in its root.
vm_foreign_libs()
{
	local dir=/usr/lib/$arch-linux-gnu name
	local -A seen=()
	local -a todo=("$@")

	while [ "${#todo[@]}" -gt 0 ]; do
		while read -r name; do
			[ -z "${seen[$name]:-}" ] || continue
			seen[$name]=1
			case $name in
			/*)	echo "$name"; continue ;;
			esac
			[ -e "$sysroot$dir/$name" ] || die "no $name in $sysroot$dir"
			echo "$dir/$name"
			todo+=("$sysroot$dir/$name")
		done < <(readelf -l -d "${todo[0]}" 2>/dev/null |
			sed -n -e 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' \
				-e 's/.*Requesting program interpreter: \(.*\)\]$/\1/p')
		todo=("${todo[@]:1}")
	done
}

# vm_libs FILE...: shared objects the files need, the loader included.
vm_libs()
{
	local f

	[ -z "$sysroot" ] || { vm_foreign_libs "$@" | sort -u; return; }
	for f in "$@"; do
		# A static binary or a script has none; ldd says so and fails.
		ldd "$f" 2>/dev/null | awk '
			$2 == "=>" && $3 ~ /^\// { print $3 }
			$1 ~ /^\// { print $1 }' || :
	done | sort -u
}

# vm_add_binary ROOT FILE [NAME]: FILE to ROOT/usr/bin, its libraries as well.
vm_add_binary()
{
	local root=$1 file=$2 name=${3:-${2##*/}} lib

	cp -L "$file" "$root/usr/bin/$name"
	chmod 0755 "$root/usr/bin/$name"
	vm_libs "$file" | while read -r lib; do
		vm_add_lib "$root" "$lib"
	done
}

# /lib and /lib64 are links into /usr in the guest, as on Debian.
vm_add_lib()
{
	local root=$1 lib=$2 dest

	case $lib in
	/usr/*)	dest=$root$lib ;;
	*)	dest=$root/usr$lib ;;
	esac
	[ -e "$dest" ] && return
	mkdir -p "${dest%/*}"
	cp -L "$sysroot$lib" "$dest"
}

# vm_add_xtables ROOT: extensions of iptables, which it loads by their names.
vm_add_xtables()
{
	local root=$1 name lib found

	for name in $VM_XTABLES; do
		found=
		for lib in "$sysroot"/usr/lib/*/xtables/lib{xt,ipt}_"$name".so; do
			[ -e "$lib" ] || continue
			found=$lib
			vm_add_lib "$root" "${lib#"$sysroot"}"
		done
		[ -n "$found" ] || die "iptables has no extension $name"
	done
}

vm_skeleton()
{
	local root=$1 dir

	for dir in usr/bin usr/lib usr/lib64 dev proc sys run tmp root etc \
		   results selftests var; do
		mkdir -p "$root/$dir"
	done
	ln -s usr/bin "$root/bin"
	ln -s usr/bin "$root/sbin"
	ln -s bin "$root/usr/sbin"
	ln -s usr/lib "$root/lib"
	ln -s usr/lib64 "$root/lib64"
	ln -s ../run "$root/var/run"
	echo "root:x:0:0:root:/root:/bin/bash" >"$root/etc/passwd"
	printf 'nobody:x:65534:65534:nobody:/:/bin/sh\n' >>"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
	ln -s /proc/self/mounts "$root/etc/mtab"
}

# vm_cpio DIR: archive of DIR on stdout, everything owned by root.
vm_cpio()
{
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
	 cpio -0 -o -H newc -R 0:0 --quiet)
}

vm_stat_key()
{
	stat -L -c '%n %s %Y' "$@"
}

# vm_base: path of the cached base part, built if need be.
vm_base()
{
	local busybox tool path key file tmp root applet
	local -a tools=()

	busybox=$(vm_guest_tool busybox) ||
		die "busybox is missing: run tools/setup vm"
	for tool in $VM_TOOLS; do
		path=$(vm_guest_tool "$tool-static" || vm_guest_tool "$tool") ||
			die "$tool is missing: run tools/setup vm"
		tools+=("$path")
	done
	for tool in $VM_TOOLS_OPTIONAL; do
		if path=$(vm_guest_tool "$tool"); then
			tools+=("$path")
		fi
	done

	key=$( { vm_stat_key "$busybox" "${tools[@]}"
		 cat "$vm_dir/init.c" "$vm_dir/initramfs.sh" "$top/tools/ktap-run.c"
		 "${cc[@]}" --version; } | sha256sum | cut -c1-16)
	file=$vm_cache/base-$key.cpio
	if [ -s "$file" ]; then
		echo "$file"
		return
	fi

	note "building the guest's base image (once)"
	tmp=$(mktemp -d "$vm_cache/tmp.XXXXXX")
	root=$tmp/root
	vm_skeleton "$root"
	"${cc[@]}" -O2 -Wall -static -o "$root/init" "$vm_dir/init.c" ||
		die "the guest's init does not build: run tools/setup build"
	"${cc[@]}" -O2 -Wall -static -o "$root/usr/bin/ktap-run" "$top/tools/ktap-run.c" ||
		die "ktap-run does not build: run tools/setup build"
	cp -L "$busybox" "$root/usr/bin/busybox"
	# This machine's can be asked, and is of the same release.
	for applet in $("$(vm_find_tool busybox)" --list); do
		[ -e "$root/usr/bin/$applet" ] ||
			ln -s busybox "$root/usr/bin/$applet"
	done
	for path in "${tools[@]}"; do
		tool=${path##*/}
		tool=${tool%-static}
		# Drop busybox's link first: cp would write through it.
		rm -f "$root/usr/bin/$tool"
		vm_add_binary "$root" "$path" "$tool"
	done
	vm_add_xtables "$root"
	for tool in $VM_KMOD_NAMES; do
		ln -sf kmod "$root/usr/bin/$tool"
	done
	# busybox's own sh prefers its applets to what is in PATH.
	ln -sf dash "$root/usr/bin/sh"
	vm_cpio "$root" >"$tmp/cpio"
	mv "$tmp/cpio" "$file"
	rm -rf "$tmp"
	find "$vm_cache" -maxdepth 1 -name 'base-*' -mtime +14 -delete
	echo "$file"
}

# vm_modules MODROOT KVER: directory with the distribution's modules, uncompressed.
vm_modules()
{
	local modroot=$1 kver=$2 src=$1/lib/modules/$2 key dir tmp root f rel

	[ -f "$src/modules.order" ] ||
		die "$src holds no kernel modules"
	key=$( { vm_stat_key "$src/modules.order" "$src/modules.builtin"
		 cat "$vm_dir/modules.list" "$vm_dir/initramfs.sh"; } |
	       sha256sum | cut -c1-16)
	dir=$vm_cache/modules-$kver-$key
	if [ -d "$dir" ]; then
		echo "$dir"
		return
	fi

	note "collecting the modules of $kver (once)"
	tmp=$(mktemp -d "$vm_cache/tmp.XXXXXX")
	vm_depmod -b "$modroot" -n "$kver" >"$tmp/dep"
	vm_pick_modules "$tmp/dep" >"$tmp/pick"
	root=$tmp/usr/lib/modules/$kver
	mkdir -p "$root"
	cp "$src"/modules.builtin* "$src/modules.order" "$root/"
	while read -r f; do
		rel=${f%.xz}
		rel=${rel%.zst}
		rel=${rel%.gz}
		mkdir -p "$root/${rel%/*}"
		case $f in
		*.xz)	xz -dc "$src/$f" ;;
		*.zst)	zstd -qdc "$src/$f" ;;
		*.gz)	gzip -dc "$src/$f" ;;
		*)	cat "$src/$f" ;;
		esac >"$root/$rel"
	done <"$tmp/pick"
	rm "$tmp/dep" "$tmp/pick"
	vm_cpio "$tmp" >"$tmp.cpio"
	mv "$tmp.cpio" "$tmp/cpio"
	# Another run may have been faster; either result is the same.
	mv -T "$tmp" "$dir" 2>/dev/null || rm -rf "$tmp"
	find "$vm_cache" -maxdepth 1 -name 'modules-*' ! -path "$dir" \
		-mtime +14 -exec rm -rf {} +
	echo "$dir"
}

vm_depmod()
{
	local depmod

	depmod=$(vm_find_tool depmod) ||
		die "depmod is missing: run tools/setup vm"
	"$depmod" "$@"
}

# vm_pick_modules DEPFILE: list the modules that modules.list selects, with dependencies.
vm_pick_modules()
{
	local list

	list=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$vm_dir/modules.list")
	awk -v list="$list" '
	BEGIN {
		n = split(list, pat, "\n")
		for (i = 1; i <= n; i++) {
			gsub(/[.+]/, "\\\\&", pat[i])
			gsub(/\*/, "[^/]*", pat[i])
			pat[i] = "^kernel/" pat[i] "$"
		}
	}
	/^kernel\/.*\.ko[.a-z]*:/ {
		f = $1
		sub(/:$/, "", f)
		for (i = 2; i <= NF; i++)
			dep[f] = dep[f] " " $i
		name = f
		sub(/\.ko[.a-z]*$/, "", name)
		for (i = 1; i <= n; i++)
			if (name ~ pat[i]) {
				want[f] = 1
				break
			}
	}
	END {
		# modules.dep lists dependencies transitively.
		for (f in want) {
			out[f] = 1
			m = split(dep[f], d, " ")
			for (i = 1; i <= m; i++)
				out[d[i]] = 1
		}
		for (f in out)
			print f
	}' "$1" | LC_ALL=C sort
}

# vm_tc_plugins ROOT DIR: the plugins in DIR to where ROOT's tc looks.
vm_tc_plugins()
{
	local root=$1 dir=$2 f

	for f in "$dir"/*.so; do
		[ ! -f "$f" ] ||
			install -D -m 644 "$f" "$root$(make -s -C "$top/tools/tc" \
				dir TC="$(vm_guest_tool tc)")/${f##*/}"
	done
}

# vm_run_part ROOT: the per-run archive's tree. Uses the runner's settings.
vm_run_part()
{
	local root=$1 ko f spec src dest mods
	local lib=$root/usr/lib/modules/$kver

	mods=$(vm_modules "$modroot" "$kver")
	mkdir -p "$root/usr/bin" "$root/.run" "$lib/extra"

	# One index over the distribution's modules and ours.
	cp -a "$mods/usr/lib/modules/$kver/." "$lib/"
	for ko in "$build_dir/$kver"/test/*.ko "$build_dir/$kver"/*.ko; do
		[ ! -f "$ko" ] || cp -L "$ko" "$lib/extra/"
	done
	if [ -n "$updates_dir" ]; then
		mkdir "$lib/updates"
		cp -L "$updates_dir"/*.ko "$lib/updates/" ||
			die "--updates $updates_dir: there are no modules"
	fi
	vm_depmod -b "$root/usr" "$kver"
	rm -rf "$lib/kernel"

	for f in "$build_dir"/bin/*; do
		[ ! -f "$f" ] || cp -L "$f" "$root/usr/bin/"
	done
	vm_tc_plugins "$root" "$build_dir/tc"
	if [ -d "$selftests_dir" ]; then
		mkdir -p "$root/selftests"
		cp -aL "$selftests_dir/." "$root/selftests/"
	fi
	for spec in "${adds[@]}"; do
		src=${spec%%:*}
		dest=/${src##*/}
		case $spec in
		*:*)	dest=${spec#*:} ;;
		esac
		[ -e "$src" ] || die "--add $src: there is no such file"
		mkdir -p "$root$(dirname "$dest")"
		cp -aL "$src" "$root$dest"
	done
	# Libraries of test programs and of what --add brought.
	find "$root" -path "$root/usr/lib" -prune -o -type f -perm -u+x -print \
		>"$work/elf"
	while read -r f; do
		vm_libs "$f"
	done <"$work/elf" | sort -u | while read -r f; do
		vm_add_lib "$root" "$f"
	done
}
