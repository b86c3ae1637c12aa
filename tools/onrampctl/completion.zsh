#compdef onrampctl
# SPDX-License-Identifier: GPL-2.0
# Completion of onrampctl for zsh; codes, namespaces and congestion controls are asked for.

_onrampctl_filter() {
	case ${words[CURRENT - 1]} in
	cc)	compadd -- ${(z)"$(</proc/sys/net/ipv4/tcp_available_congestion_control)"} ;;
	src|dst|sport|dport) ;;
	*)	compadd -- src dst sport dport cc not and or ;;
	esac
}

_onrampctl() {
	local curcontext=$curcontext state line
	local -a commands lists actions
	typeset -A opt_args

	commands=(
		'doctor:look for what is wrong, and say what to do'
		'status:say whether TIMELY and On-Ramp act, and if not, why'
		'show:list devices, paths, flows, subscribers, clocks'
		'clock:show what sets the clocks, feed maps, wait for a good clock'
		'monitor:write events of paths and devices as they come'
		'why:say what keeps a connection from being faster'
		'top:show the busiest connections, again and again'
		'trace:write what one connection does, as CSV, and its plot'
		'prometheus:write metrics for Prometheus'
		'facts:write all that doctor looks at, as JSON'
		'help:print the commands and options, or those of a command'
	)
	_arguments -C -s \
		'(-j --json)'{-j,--json}'[write JSON]' \
		'(-n --netns)'{-n,--netns}'[network namespace]:namespace:->netns' \
		'(-r --resolve)'{-r,--resolve}'[show, top: names of hosts and ports]' \
		'(-v --verbose)'{-v,--verbose}'[write more]' \
		'(-i --interval)'{-i,--interval}'[time between two looks]:seconds: ' \
		'(-o --output)'{-o,--output}'[file to write]:file:_files' \
		'--count[events or screens after which it ends]:number: ' \
		'--sort[key that top sorts by]:key:(rate rtt queue paused retrans)' \
		'--duration[for how long trace goes on]:seconds: ' \
		'--timeout[time after which clock waitsync gives up]:seconds: ' \
		'--facts[look at what facts wrote]:file:_files' \
		'--http[answer a request of HTTP on stdin]' \
		'--root[files of /proc and /sys are below it]:directory:_files -/' \
		'--state[muted checks]:file:_files' \
		'--color[colours]:when:(always never auto)' \
		'(- *)'{-V,--version}'[version of this program]' \
		'(- *)'{-h,--help}'[help]' \
		'1:command:->command' \
		'*::word:->words' && return

	case $state in
	netns)
		compadd -- ${(f)"$(ip netns list 2>/dev/null | cut -d ' ' -f 1)"} ;;
	command)
		_describe command commands ;;
	words)
		case $line[1] in
		doctor)
			actions=(mute unmute codes)
			if ((CURRENT == 2)); then
				compadd -- $actions
			elif ((CURRENT == 3)) && [[ $words[2] == (mute|unmute) ]]; then
				compadd -- ${(f)"$(onrampctl doctor codes 2>/dev/null | cut -d ' ' -f 1)"}
			elif ((CURRENT == 4)) && [[ $words[2] == mute ]]; then
				compadd -- 1h 12h 1d 7d 2w
			fi ;;
		show)
			lists=(devices paths flows subscribers timely clocks)
			if ((CURRENT == 2)); then
				compadd -- $lists
			elif ((CURRENT == 3)) && [[ $words[2] == timely ]]; then
				compadd -- flows
			elif [[ $words[2] == flows || $words[3] == flows ]]; then
				_onrampctl_filter
			fi ;;
		clock)
			if ((CURRENT == 2)); then
				compadd -- status sources feed waitsync
			elif [[ $words[2] == feed ]]; then
				compadd -- /sys/class/ptp/ptp<->(N:t:s/ptp/phc/) /sys/class/net/*(N:t)
			elif [[ $words[2] == waitsync && ${words[CURRENT-1]} != within ]]; then
				compadd -- system ptp phc0 within
			fi ;;
		why|top|trace)
			_onrampctl_filter ;;
		esac ;;
	esac
}

_onrampctl "$@"
