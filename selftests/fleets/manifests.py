#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check the manifests of packaging/kubernetes, or take one apart.

usage: selftests/fleets/manifests.py [--podman | --data NAME KEY] [FILE]...

Objects of Kubernetes have to be as the classes of Debian's python3-kubernetes have them, which are
made from its OpenAPI: unknown fields, wrong types and missing fields are errors. A Module of KMM has
to match kmm.schema.json. --podman prints options of `podman run` for the container of the
DaemonSet, one a line, then "check" and its readiness probe. --data prints a key of a ConfigMap.
"""

import datetime
import json
import pathlib
import re
import sys

import jsonschema
import yaml
from kubernetes.client import models

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = TOP / 'packaging/kubernetes'
KINDS = {('v1', 'Namespace'): 'V1Namespace', ('v1', 'ConfigMap'): 'V1ConfigMap',
         ('apps/v1', 'DaemonSet'): 'V1DaemonSet'}
PLAIN = {'str': str, 'int': int, 'bool': bool, 'float': float, 'datetime': datetime.datetime}


class Wrong(Exception):
    pass


def build(kind, data, path):
    """Make an object of this type, which checks it and all that is in it."""
    if kind == 'object':
        return data
    if kind in PLAIN:
        if not isinstance(data, PLAIN[kind]) or (kind == 'int' and isinstance(data, bool)):
            raise Wrong(f'{path}: {data!r} is no {kind}')
        return data
    if listed := re.fullmatch(r'list\[(.*)\]', kind):
        if not isinstance(data, list):
            raise Wrong(f'{path}: {data!r} is no list')
        return [build(listed[1], each, f'{path}[{i}]') for i, each in enumerate(data)]
    if mapped := re.fullmatch(r'dict\(str, (.*)\)', kind):
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            raise Wrong(f'{path}: {data!r} is no map of names')
        return {key: build(mapped[1], each, f'{path}.{key}') for key, each in data.items()}
    model = getattr(models, kind)
    if not isinstance(data, dict):
        raise Wrong(f'{path}: {data!r} is no {kind}')
    attributes = {name: attribute for attribute, name in model.attribute_map.items()}
    fields = {}
    for name, value in data.items():
        if name not in attributes:
            raise Wrong(f'{path}: {kind} has no field {name}')
        fields[attributes[name]] = build(model.openapi_types[attributes[name]], value,
                                         f'{path}.{name}')
    try:
        return model(**fields)
    except ValueError as error:
        raise Wrong(f'{path}: {error}') from error


def check(obj, path):
    kind = obj.get('apiVersion'), obj.get('kind')
    if kind == ('kmm.sigs.x-k8s.io/v1beta1', 'Module'):
        try:
            jsonschema.validate(obj, json.loads((TOP / 'selftests/fleets/kmm.schema.json').read_text()))
        except jsonschema.ValidationError as error:
            raise Wrong(f'{path}: {error.json_path}: {error.message}') from error
    elif kind in KINDS:
        build(KINDS[kind], obj, path)
    else:
        raise Wrong(f'{path}: unknown kind {kind}')
    if kind[1] == 'DaemonSet':
        spec = obj['spec']['template']['spec']
        labels = obj['spec']['template']['metadata']['labels']
        if not obj['spec']['selector']['matchLabels'].items() <= labels.items():
            raise Wrong(f'{path}: its selector does not match its pods')
        volumes = {volume['name'] for volume in spec['volumes']}
        for container in spec['containers']:
            if not container.get('image'):
                raise Wrong(f'{path}: a container without an image')
            for mount in container['volumeMounts']:
                if mount['name'] not in volumes:
                    raise Wrong(f'{path}: there is no volume {mount["name"]}')


def load(files):
    for file in files or sorted(HERE.glob('*.yaml')):
        for obj in yaml.safe_load_all(pathlib.Path(file).read_text()):
            yield obj, f'{pathlib.Path(file).name}: {obj.get("kind")} {obj.get("metadata", {}).get("name")}'


def podman(obj):
    spec = obj['spec']['template']['spec']
    container = spec['containers'][0]
    volumes = {volume['name']: volume for volume in spec['volumes']}
    if container['securityContext'].get('privileged'):
        print('--privileged')
    if spec.get('hostNetwork'):
        print('--network=host')
    for mount in container['volumeMounts']:
        volume = volumes[mount['name']]
        path = volume['hostPath']['path'] if 'hostPath' in volume else f'/volumes/{mount["name"]}'
        print(f'--volume={path}:{mount["mountPath"]}:' + ('ro' if mount.get('readOnly') else 'rw'))
    print('check', *container['readinessProbe']['exec']['command'])


def main(args):
    what = args.pop(0) if args and args[0] in ('--podman', '--data') else None
    wanted = (args.pop(0), args.pop(0)) if what == '--data' else None
    for obj, path in load(args):
        if not what:
            check(obj, path)
            print(f'{path}: ok')
        elif what == '--podman' and obj['kind'] == 'DaemonSet':
            podman(obj)
        elif what == '--data' and obj['kind'] == 'ConfigMap' and obj['metadata']['name'] == wanted[0]:
            sys.stdout.write(obj['data'][wanted[1]])


try:
    main(sys.argv[1:])
except Wrong as wrong:
    sys.exit(str(wrong))
