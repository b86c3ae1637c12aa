# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of onrampctl for bash; codes, namespaces and congestion controls are asked for.

_onrampctl_words() {
	# shellcheck disable=SC2207
	COMPREPLY=($(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}"))
}

_onrampctl() {
	local last=${COMP_WORDS[COMP_CWORD - 1]} word i words=()

	COMPREPLY=()
	case $last in
	--color)	_onrampctl_words 'always never auto'; return ;;
	--sort)		_onrampctl_words 'rate rtt queue paused retrans'; return ;;
	-n|--netns)	_onrampctl_words "$(ip netns list 2>/dev/null | cut -d ' ' -f 1)"; return ;;
	-i|--interval|--count|--duration|--timeout)	return ;;
	-o|--output|--facts|--state)
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
		return ;;
	--root)
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]}"))
		return ;;
	esac
	# Words that are neither options nor their values.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		-n|-i|-o|--netns|--interval|--count|--duration|--timeout|--output|--facts|--state|\
		--root|--color|--sort) i=$((i + 1)) ;;
		-*) ;;
		*) words+=("$word") ;;
		esac
	done
	if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
		_onrampctl_words '--json --netns --resolve --verbose --interval --count --sort --duration --timeout --output --facts --http --root
			--state --color --version --help'
		return
	fi
	case ${words[*]} in
	'')		_onrampctl_words 'doctor status show clock monitor why top trace prometheus facts help' ;;
	help)		_onrampctl_words 'doctor status show clock monitor why top trace prometheus facts' ;;
	doctor)		_onrampctl_words 'mute unmute codes' ;;
	'doctor mute'|'doctor unmute')
		_onrampctl_words "$(onrampctl doctor codes 2>/dev/null | cut -d ' ' -f 1)" ;;
	'doctor mute '*) [ "${#words[@]}" -ne 3 ] || _onrampctl_words '1h 12h 1d 7d 2w' ;;
	show)		_onrampctl_words 'devices paths flows subscribers timely clocks' ;;
	clock)		_onrampctl_words 'status sources feed waitsync' ;;
	'clock feed')	_onrampctl_words "$(ls /sys/class/ptp 2>/dev/null | sed s/ptp/phc/) \
				$(ls /sys/class/net 2>/dev/null)" ;;
	'clock waitsync') _onrampctl_words 'system ptp phc0 within' ;;
	'clock waitsync '*) [ "$last" = within ] || _onrampctl_words 'within' ;;
	'show timely')	_onrampctl_words 'flows' ;;
	'show flows'*|'show timely flows'*|why*|top*|trace*)
		case $last in
		cc)	_onrampctl_words "$(cat /proc/sys/net/ipv4/tcp_available_congestion_control \
				2>/dev/null)" ;;
		src|dst|sport|dport) ;;
		*)	_onrampctl_words 'src dst sport dport cc not and or' ;;
		esac ;;
	esac
}

complete -F _onrampctl onrampctl
