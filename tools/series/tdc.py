#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the cases of a file for the kernel's tdc as a script, which needs no Python.

usage: tools/series/tdc.py FILE

Each case is a function t_ID, which fails as tdc would have it fail. The list of functions is in
$cases. A case whose dependsOn fails is a failure here.
"""

import json
import shlex
import sys

FIELDS = {'id', 'name', 'category', 'plugins', 'setup', 'cmdUnderTest', 'expExitCode', 'verifyCmd',
          'matchPattern', 'matchCount', 'teardown'}


def main(path):
    with open(path, encoding='utf-8') as file:
        cases = json.load(file)
    ids = [case['id'] for case in cases]
    if len(set(ids)) != len(ids):
        sys.exit(f'{path}: two cases have one id')
    # Which tdc's nsPlugin makes.
    print('TC=tc IP=ip DUMMY=dummy1 status=\n[ -d /sys/class/net/$DUMMY ] || $IP link add $DUMMY type dummy')
    for case in cases:
        if not FIELDS <= case.keys() <= FIELDS | {'dependsOn'}:
            sys.exit(f'{path}: {case["id"]} has other fields than tdc knows: {case.keys() ^ FIELDS}')
        print(f'# {case["name"]}\nt_{case["id"]}() {{')
        for command in [case[key] for key in ('dependsOn',) if key in case] + case['setup']:
            print(f'\t{{ {command}; }} || return')
        print(f'\tstatus=0\n\t{case["cmdUnderTest"]} || status=$?\n\t[ $status -eq {int(case["expExitCode"])} ] ||'
              f' {{ echo "status $status"; return 1; }}')
        print(f'\t{case["verifyCmd"]}\n\t[ "$({case["verifyCmd"]} | grep -cE -e '
              f'{shlex.quote(case["matchPattern"])})" -eq {int(case["matchCount"])} ] || return')
        for command in case['teardown']:
            print(f'\t{command} || return')
        print('}')
    print("cases='" + ' '.join(f't_{case}' for case in ids) + "'")


main(sys.argv[1])
