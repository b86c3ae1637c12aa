# SPDX-License-Identifier: GPL-2.0
"""Put what compat/ defines for one kernel into the sources that use it.

Probes of compat/probes.txt say which interfaces that kernel has. The conditions of compat/shims
are evaluated with them, and each use of a macro that is left is replaced by its body. So the
shims stay the only place that knows about kernels.
"""

import re
import subprocess

WORD = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*', re.S)
# What can stand where a parameter does in parentheses.
SIMPLE = re.compile(r'&?[A-Za-z_][\w]*(?:(?:->|\.)\w+|\[[^][]*\]|\(\w*\))*|\d+\Z')
NOTHING = re.compile(r'\(*\(void\)\(?\w+\)?\)*|static_assert\(true\)')


class Unresolved(Exception):
    """A shim that cannot be written out where it is used."""


def declarations(kdir):
    """The declarations of all headers that probes ask about, as compat/probe reads them."""
    headers = []
    for pattern in ('include/linux', 'include/net', 'include/trace/stages', 'include/uapi/linux'):
        headers += sorted((kdir / pattern).rglob('*.h'))
    text = '\n'.join(h.read_text(errors='replace') for h in headers)
    text = text.replace('\\\n', ' ')
    text = subprocess.run(['gcc', '-fpreprocessed', '-dD', '-E', '-P', '-'], input=text, text=True,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return '\n'.join(line for line in text.split('\n')
                     if not line.startswith('#') or re.match(r'#\s*(define|undef)', line))


def exports(kdir):
    """What modules may use, as in Module.symvers."""
    text = subprocess.run(['grep', '-rhoE', r'EXPORT_(PER_CPU_)?SYMBOL(_GPL)?\(\w+\)',
                           'kernel', 'mm'], cwd=kdir, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return ''.join(f'0 {name} vmlinux EXPORT_SYMBOL\n'
                   for name in re.findall(r'\((\w+)\)', text))


def probe(top, kdir, scratch):
    """The flags that hold for a kernel's sources."""
    (scratch / 'probe.i').write_text(declarations(kdir))
    (scratch / 'symvers').write_text(exports(kdir))
    found = subprocess.run(['sh', top / 'compat/probe', scratch / 'probe.i', scratch / 'symvers'],
                           check=True, text=True, stdout=subprocess.PIPE).stdout
    return set(re.findall(r'#define (\w+) 1', found))


class Macro:
    def __init__(self, name, params, body):
        self.name, self.params, self.body = name, params, body


class Shims:
    """The macros that compat/shims define for a kernel with these flags."""

    def __init__(self, top, flags, defined):
        self.flags, self.defined = flags, defined
        self.macros, self.rest = {}, ''
        for path in sorted((top / 'compat/shims').glob('*.h')):
            self.read(path.read_text())
        self.types = set(re.findall(r'^struct (\w+) \{', self.rest, re.M))

    def holds(self, condition):
        condition = re.sub(r'defined\((\w+)\)', lambda m: str(self.has(m[1])), condition)
        condition = condition.replace('&&', ' and ').replace('||', ' or ').replace('!', ' not ')
        return eval(condition, {'__builtins__': {}})

    def has(self, name):
        return name in self.flags or (not name.startswith('COMPAT_') and
                                      f'#define {name}(' in self.defined)

    def read(self, text):
        taken = []              # [this branch is read, a branch was read]
        lines = iter(re.sub(r'/\*.*?\*/', '', text, flags=re.S).split('\n'))
        for line in lines:
            word = re.match(r'#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(.*)', line)
            if word:
                kind, what = word[1], word[2].strip()
                if kind == 'endif':
                    taken.pop()
                elif kind == 'else':
                    taken[-1] = [not taken[-1][1], True]
                elif kind == 'elif':
                    now = not taken[-1][1] and self.holds(what)
                    taken[-1] = [now, taken[-1][1] or now]
                else:
                    now = (self.holds(what) if kind == 'if' else
                           self.has(what) if kind == 'ifdef' else not self.has(what))
                    taken.append([now, now])
                continue
            whole = [line]
            while whole[-1].endswith('\\'):
                whole.append(next(lines))
            if not all(now for now, _ in taken):
                continue
            define = re.match(r'#\s*define (\w+)(\(([^)]*)\))?(.*)', line, re.S)
            if not define:
                self.rest += line + '\n'
                continue
            body = '\n'.join(re.sub(r'\s*\\$', '', l) for l in [define[4]] + whole[1:])
            params = define[3] and [p.strip() for p in define[3].split(',')]
            self.macros[define[1]] = Macro(define[1], params if define[2] else None,
                                           body.strip())

    # -- expansion --

    def resolve(self, text, where):
        """The text with no use of a shim left."""
        for name in self.types:
            if re.search(rf'\bstruct {name}\b', text):
                raise Unresolved(f'{where}: compat/ defines struct {name} for this kernel')
        for _ in range(1000):
            use = self.first_use(text)
            if not use:
                break
            text = self.replace(text, *use, where)
        text = re.sub(r'^(#if.*?) && 1$', r'\1', text, flags=re.M)
        text = re.sub(r'\b(\w+)_compat\b', r'\1_cb', text)
        return re.sub(r'\n{3,}', '\n\n', text)

    def first_use(self, text):
        for found in WORD.finditer(text):
            macro = self.macros.get(found[0])
            if not macro:
                continue
            if macro.params is None:
                return found.start(), found.end(), macro, []
            if text[found.end():found.end() + 1] == '(':
                args, end = arguments(text, found.end())
                return found.start(), end, macro, args
        return None

    def replace(self, text, start, end, macro, args, where):
        body = substitute(macro, args)
        line = text.rfind('\n', 0, start) + 1
        before = text[line:start]
        indent = re.match(r'\s*', before)[0]
        alone = not before.strip() and text[end:end + 1] == ';'
        if NOTHING.fullmatch(body):
            if not alone:
                raise Unresolved(f'{where}: {macro.name} is nothing, inside of a statement')
            after = text.index('\n', end) + 1
            return text[:line] + text[after:]
        if body.endswith('static_assert(true)'):
            # A definition of functions.
            if not alone or indent:
                raise Unresolved(f'{where}: {macro.name} is not at file scope')
            body = body[:-len('static_assert(true)')].rstrip()
            dedented = re.sub(r'^\t', '', body, flags=re.M)
            return text[:line].rstrip('\n') + '\n\n' + dedented + text[end + 1:]
        loop = re.fullmatch(r'do \{\n?(.*)\} while \(0\)', body, re.S)
        value = re.fullmatch(r'\(\{\n?(.*)\}\)', body, re.S)
        if not loop and not value:
            return text[:start] + bare(body, text[:start], text[end:]) + text[end:]
        statements = simplify((loop or value)[1])
        if loop:
            if not alone or re.search(r'(\)|else)\s*$', text[:line]):
                raise Unresolved(f'{where}: {macro.name} is not a statement of its own')
            lines = [indent + s for s in statements]
            return text[:line] + '\n'.join(lines) + text[end + 1:]
        *locals_, last = statements
        last = last.rstrip(';')
        if locals_:
            brace = opening(text, start)
            body_at = text.index('\n', brace) + 1
            indent = re.match(r'\s*', text[body_at:])[0]
            hoisted = ''.join(f'{indent}{s}\n' for s in locals_) + '\n'
            text = text[:body_at] + hoisted + text[body_at:]
            start, end = start + len(hoisted), end + len(hoisted)
        return text[:start] + last + text[end:]


def arguments(text, at):
    """The arguments of a macro whose parenthesis opens at @at, and the end of its use."""
    depth, args, begin = 0, [], at + 1
    at_end = at
    while True:
        char = text[at_end]
        if char in '([{':
            depth += 1
        elif char in ')]}':
            depth -= 1
        if not depth:
            args.append(text[begin:at_end])
            return [re.sub(r'\s+', ' ', a.strip()) for a in args], at_end + 1
        if char == ',' and depth == 1:
            args.append(text[begin:at_end])
            begin = at_end + 1
        at_end += 1


def substitute(macro, args):
    body = macro.body
    if macro.params is None:
        return body
    given = dict(zip(macro.params, args))
    if macro.params[-1:] == ['...']:
        given['__VA_ARGS__'] = ', '.join(args[len(macro.params) - 1:])
    for name, arg in given.items():
        if name == '...':
            continue
        body = re.sub(rf'\s*##\s*{name}\b', lambda m: arg, body)
        body = re.sub(rf'\b{name}\s*##\s*', lambda m: arg, body)
        body = put(body, name, arg)
    return body


def put(body, name, arg):
    """Replace a name by an argument, without parentheses that it does not need."""
    if SIMPLE.fullmatch(arg):
        if arg.startswith('&'):
            body = re.sub(rf'(?:\({name}\)|\b{name})->', lambda m: arg[1:] + '.', body)
            body = re.sub(rf'\*\({name}\)', lambda m: arg[1:], body)
        body = re.sub(rf'(?<!\w)\({name}\)', lambda m: arg, body)
    # The field of that name is none.
    return re.sub(rf'(?<!->)(?<!\.)\b{name}\b', lambda m: arg, body)


def simplify(body):
    """The statements of a macro, without variables that only hold an argument."""
    statements = [re.sub(r'\s+', ' ', s.strip()) + ';'
                  for s in body.split(';') if s.strip()]
    out = []
    while statements:
        statement = statements.pop(0)
        local = re.fullmatch(r'(?:const )?(?:struct )?\w+ (\*?)(_\w+) = (.*);', statement)
        if local and SIMPLE.fullmatch(local[3].strip('()')):
            statements = [put(s, local[2], local[3].strip('()')) for s in statements]
            continue
        if local:
            # Nothing else has to be told apart from it.
            name = local[2].lstrip('_')
            statement, *statements = [re.sub(rf'\b{local[2]}\b', name, s)
                                      for s in [statement] + statements]
        out.append(statement)
    return out


def bare(body, before, after):
    """An expression, without its parentheses where nothing else is near."""
    if (body.startswith('(') and arguments(body, 0)[1] == len(body) and
            re.search(r'(=|,|\(|\breturn|[;{}])\s*$', before) and re.match(r'[;,)]', after)):
        return body[1:-1]
    if re.fullmatch(r'\([\w>.()-]+\)', body) and arguments(body, 0)[1] == len(body) and \
            re.search(r'[(,=!\s]$', before):
        return body[1:-1]
    return re.sub(r'\s+', ' ', body) if '\n' not in body else body


def opening(text, at):
    """The brace that opens the block around @at."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if text[i] == '}':
            depth += 1
        elif text[i] == '{':
            if not depth:
                return i
            depth -= 1
    raise Unresolved('no block')
