# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154
#
# Containers of hosts, for experiments that source this after they have made their network.
#
#	lab_containers HOST...	makes one at each of these, a namespace with a veth
#	lab_place PLACE		what sends and receives at these hosts is
#		plain		on the host
#		routed		in its container, which has the host's address by a route
#		bridged		the same, on a bridge with the host's NIC
#		vxlan		in its container, which has another address, on a bridge with the
#				host's VXLAN device
#		flannel		the same, but the host routes it there, as with flannel
#
# The host of a container only forwards. lab_dev is the device whose qdisc sees data as the
# container sends it: the host's NIC, or in a VXLAN its VXLAN device, which has no qdisc before.
# NICs have fq then. Packets that the host routes have no socket in that qdisc, others have the
# container's.

lab_places="plain routed bridged vxlan flannel"
lab_at=plain lab_contained=''
# How a VXLAN's device is made, with that it has the speed of the NIC; and the qdisc of the NIC.
lab_over_dev=${lab_over_dev-dev eth0} lab_over_below=${lab_over_below:-fq}
lab_mac=02:00:00:00:00:0c

# lab_containers HOST...: the host has no way to its container yet.
lab_containers() {
	lab_contained=$*
	for _h; do
		ip netns add "c$_h"
		ip netns exec "c$_h" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1
		ip netns exec "$_h" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 \
			net.ipv4.ip_forward=1
		ip -n "$_h" -batch - <<-END
			link add ve arp off type veth peer name c0 address $lab_mac arp off netns c$_h
			link set ve up
		END
		ip -n "c$_h" -batch - <<-END
			link set lo up
			link set c0 mtu $LAB_MTU up
			addr add $(lab_addr "$_h")/32 dev c0
		END
		[ "$LAB_MTU" = 1500 ] || ip -n "$_h" link set ve mtu "$LAB_MTU"
	done
}

# lab_ns HOST: the namespace of what sends and receives there, in $ns.
lab_ns() {
	ns=$1
	[ $lab_at != plain ] || return 0
	case " $lab_contained " in
	*" $1 "*)	ns=c$1 ;;
	esac
}

# lab_namespaces HOST...: NAMESPACE,...
lab_namespaces() {
	for _h; do
		lab_ns "$_h"
		echo "$ns"
	done | paste -s -d ,
}

# lab_ns_addr HOST: its address.
lab_ns_addr() {
	lab_lookup "$1"
	case $lab_at in
	vxlan|flannel) echo "172.16.${_addr#10.0.}" ;;
	*)		echo "$_addr" ;;
	esac
}

# The MAC addresses of a container in the VXLAN, and of a device.
lab_over_mac() {
	printf '02:00:00:00:01:%02x\n' "${1#h}"
}

lab_mac_of() {
	ip -n "$1" -o link show "$2" | sed 's/.*link\/ether \([^ ]*\).*/\1/'
}

# lab_switch_of HOST: in $_sw.
lab_switch_of() {
	while read -r _kind _one _other _; do
		case $_kind-$1 in
		"link-$_one")	_sw=$_other ;;
		"link-$_other")	_sw=$_one ;;
		esac
	done <"$lab_net"
}

# lab_gateway HOST MAC: what its container sends to.
lab_gateway() {
	ip -n "c$1" -batch - <<-END
		neigh replace 169.254.0.1 lladdr $2 dev c0 nud permanent
		route replace default via 169.254.0.1 dev c0 onlink
	END
}

lab_routed() {
	for _h in $lab_contained; do
		_addr4=$(lab_addr "$_h")
		# The host keeps its route as long as it has some address.
		ip -n "$_h" -batch - <<-END
			addr add 169.254.0.2/32 dev eth0
			addr del $_addr4/32 dev eth0
			neigh replace $_addr4 lladdr $lab_mac dev ve nud permanent
			route add $_addr4/32 dev ve
		END
		lab_gateway "$_h" "$(lab_mac_of "$_h" ve)"
	done
}

lab_bridged() {
	for _h in $lab_contained; do
		lab_switch_of "$_h"
		_port=$(lab_port "$_sw" "$_h")
		ip -n "$_h" -batch - <<-END
			route del $(lab_addr "$_h")/32 dev ve
			link add br0 arp off type bridge mcast_snooping 0
			link set eth0 master br0
			link set ve master br0
			link set br0 up
		END
		lab_gateway "$_h" "$(lab_mac_of "$_sw" "$_port")"
		ip -n "$_sw" neigh replace fe80::1 lladdr $lab_mac dev "$_port" nud permanent
	done
}

# All containers are in one network. Nothing is learned, and nobody asks for an address. Frames on
# the wire stay as long as they were: the containers' MTU is 50 less, as containers' networks
# have it. The file `overlay` has lines "HOST ADDRESS ADDRESS_IN_THE_VXLAN MAC".
lab_overlay() {
	lab_module vxlan
	# shellcheck disable=SC2086
	lab_qdisc "$lab_over_below" $lab_contained
	for _h in $lab_contained; do
		echo "$_h $(lab_addr "$_h") $(lab_ns_addr "$_h") $(lab_over_mac "$_h")"
	done >overlay
	_mtu=$((LAB_MTU - 50))
}

# lab_over_fdb HOST: at which hosts the VXLAN has the others' MAC addresses.
lab_over_fdb() {
	awk -v h="$1" '$1 != h { print "fdb append", $4, "dev vx0 dst", $2 }' overlay |
		bridge -n "$1" -batch -
}

lab_vxlan() {
	lab_overlay
	for _h in $lab_contained; do
		lab_switch_of "$_h"
		_port=$(lab_port "$_sw" "$_h")
		_addr4=$(lab_addr "$_h")
		# The NIC and the address are the host's again.
		ip -n "$_h" -batch - <<-END
			link set eth0 nomaster
			addr add $_addr4/32 dev eth0
			link add vx0 mtu $_mtu arp off type vxlan id 7 local $_addr4 $lab_over_dev dstport 4789 nolearning
			link set vx0 master br0
			link set vx0 up
		END
		ip -n "$_sw" neigh replace fe80::1 lladdr "$(lab_mac_of "$_h" eth0)" dev "$_port" \
			nud permanent
		ip -n "c$_h" -batch - <<-END
			route del default
			addr del $_addr4/32 dev c0
			link set c0 address $(lab_over_mac "$_h") mtu $_mtu
			addr add $(lab_ns_addr "$_h")/16 dev c0
		END
		lab_over_fdb "$_h"
		awk -v h="$_h" '$1 != h { print "neigh replace", $3, "lladdr", $4, "dev c0 nud permanent" }' \
			overlay | ip -n "c$_h" -batch -
	done
	lab_dev=vx0
}

# Here the MAC address is that of the host's VXLAN device.
lab_flannel() {
	lab_overlay
	for _h in $lab_contained; do
		_addr4=$(lab_addr "$_h")
		_over=$(lab_ns_addr "$_h")
		ip -n "c$_h" -batch - <<-END
			link set c0 mtu $_mtu
			addr add $_over/32 dev c0
			addr del $_addr4/32 dev c0
		END
		ip -n "$_h" -batch - <<-END
			route del $_addr4/32 dev ve
			neigh del $_addr4 dev ve
			addr add $_addr4/32 dev eth0
			neigh replace $_over lladdr $lab_mac dev ve nud permanent
			route add $_over/32 dev ve
			link add vx0 mtu $_mtu address $(lab_over_mac "$_h") arp off type vxlan id 7 local $_addr4 $lab_over_dev dstport 4789 nolearning
			link set vx0 up
		END
		lab_over_fdb "$_h"
		awk -v h="$_h" '$1 != h {
			print "neigh replace", $3, "lladdr", $4, "dev vx0 nud permanent"
			print "route add", $3 "/32 dev vx0"
		}' overlay | ip -n "$_h" -batch -
	done
	lab_dev=vx0
}

# lab_place PLACE: made from the one before, and there is no way back.
lab_place() {
	case " $lab_places " in
	*" $1 "*)	;;
	*)		lab_die "the place '$1' is unknown: expected one of $lab_places" ;;
	esac
	while [ $lab_at != "$1" ]; do
		case $lab_at-$1 in
		plain-*)	lab_at=routed ;;
		routed-flannel)	lab_at=flannel ;;
		routed-*)	lab_at=bridged ;;
		bridged-vxlan)	lab_at=vxlan ;;
		*)		lab_die "the place '$1' cannot be made after $lab_at" ;;
		esac
		lab_$lab_at
	done
}
