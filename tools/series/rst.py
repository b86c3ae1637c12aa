# SPDX-License-Identifier: GPL-2.0
"""Write a page of this tree, which is Markdown, as the kernel's reStructuredText."""

import re

UNDERLINES = {1: '=', 2: '=', 3: '-', 4: '~'}


def slug(heading):
    """The anchor of a heading, as Markdown's readers make it."""
    text = re.sub(r'[`*]', '', heading).lower()
    return re.sub(r'[^\w\- ]', '', text).replace(' ', '-')


def escape(text):
    return re.sub(r'([\\*|]|(?<=\w)_(?!\w)|(?<!\w)_(?=\w))', r'\\\1', text.replace('`', ''))


class Page:
    """One of the pages @names, which maps a file's name to the name of its page here."""

    def __init__(self, name, text, names):
        self.name, self.names = name, names
        self.lines = text.split('\n')
        self.out = []

    def label(self, name, anchor):
        return f'{self.names[name]}_{anchor}'.replace('_', '-').lower()

    def link(self, found):
        text, target = found[1], found[2]
        name, _, anchor = target.partition('#')
        name = name.split('/')[-1] if name and '/' not in name.strip('./') else name
        if '://' in target:
            return f'{self.inline(text)} ({target})'
        if name and name not in self.names:
            return self.inline(text)
        text = escape(text).replace('<', '\\<')
        if anchor:
            return f':ref:`{text} <{self.label(name or self.name, anchor)}>`'
        return f':doc:`{text} <{self.names[name]}>`'

    def inline(self, text):
        """Code, links, stress; in this order, since each may hold what looks like another."""
        out = []
        pattern = re.compile(r'(``?)(.+?)\1|!?\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]*)\)|'
                             r'\*\*(.+?)\*\*')
        at = 0
        for found in pattern.finditer(text):
            out.append(escape(text[at:found.start()]))
            at = found.end()
            if found[1]:
                new = f'``{found[2].strip()}``'
            elif found[0].startswith('!'):
                new = escape(found[3])
            elif found[4] is not None:
                new = self.link(re.match(r'(.*)\0(.*)', f'{found[3]}\0{found[4]}', re.S))
            else:
                new = f'**{escape(re.sub(r".(?<=])[(][^)]*[)]", "", found[5]).strip("[]"))}**'
            # Inline markup ends at a space or a mark.
            before = text[found.start() - 1:found.start()]
            if new[0] in '`*:' and re.match(r'[\w`]', before):
                new = '\\ ' + new
            if new[-1] in '`*' and re.match(r'\w', text[at:at + 1]):
                new += '\\ '
            out.append(new)
        out.append(escape(text[at:]))
        return ''.join(out)

    def table(self, rows):
        cells = [[c.strip().replace('\0', '|') for c in
                  re.sub(r'\\\|', '\0', row.strip()).strip('|').split('|')] for row in rows]
        del cells[1]
        if not any(cells[0]):
            del cells[0]
            header = []
        else:
            header = ['   :header-rows: 1']
        width = max(len(c) for c in cells)
        out = ['.. list-table::', *header, '']
        for row in cells:
            row += [''] * (width - len(row))
            for i, cell in enumerate(row):
                out.append(f"   {'*' if not i else ' '} - {self.inline(cell)}".rstrip())
        return out + ['']

    def rst(self):
        title = re.sub(r'[`*]', '', self.lines[0].lstrip('# '))
        self.out = ['.. SPDX-License-Identifier: GPL-2.0', '', '=' * len(title), title,
                    '=' * len(title), '']
        lines = self.lines[1:]
        while lines:
            line = lines.pop(0)
            if re.match(r'\s*<!--.*-->\s*$', line) or re.match(r'!\[', line):
                continue
            fence = re.match(r'(\s*)```(\w*)', line)
            if fence:
                self.out += ['', fence[1] + ('.. code-block:: sh' if fence[2] == 'sh' else '::'), '']
                while not lines[0].strip().startswith('```'):
                    self.out.append(('   ' + lines.pop(0).expandtabs(8)).rstrip())
                lines.pop(0)
                self.out.append('')
                continue
            heading = re.match(r'(#+) (.*)', line)
            if heading:
                text = escape(heading[2].replace('**', ''))
                self.out += ['', f'.. _{self.label(self.name, slug(heading[2]))}:', '', text,
                             UNDERLINES[len(heading[1])] * len(text), '']
                continue
            if line.startswith('|'):
                rows = [line]
                while lines and lines[0].startswith('|'):
                    rows.append(lines.pop(0))
                self.out += self.table(rows)
                continue
            # A paragraph, or an item of a list: links may be on two lines.
            block = [line]
            while line.strip() and lines and lines[0].strip() and \
                    not re.match(r'\s*([-*] |\d+\. |```|#|\||<!--)', lines[0]):
                block.append(lines.pop(0))
            item = re.match(r'(\s*)(- |\d+\. )', line)
            if item and self.out[-1] and not re.match(r'\s*(- |\d+\. )', self.last):
                self.out.append('')
            self.last = line
            head = item[0] if item else re.match(r'\s*', line)[0]
            text = '\n'.join(block)[len(head):]
            self.out += (head + self.inline(text)).split('\n')
        text = '\n'.join(l.rstrip() for l in self.out)
        return re.sub(r'\n{3,}', '\n\n', text).rstrip('\n') + '\n'

    last = ''
