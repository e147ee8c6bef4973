"""A second evaluator of metric expressions: written for these tests, from the description of the
language alone. Parses into nested tuples by precedence climbing, and evaluates them as a tree."""
import math
import re

TOKEN = re.compile(r'''\s*(?:
    (?P<hex>0[xX][0-9a-fA-F]+)
  | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
  | (?P<bracket>\[[^\]]+\])
  | (?P<literal>\#(?:\[[^\]]+\]|(?:[\w.:@]|\\.)+))
  | (?P<name>(?:[A-Za-z_\\@]|\\.)(?:[\w.:@]|\\.)*)
  | (?P<op>\|\||&&|<\s*=|>\s*=|=\s*=|!\s*=|[-+*/%()<>=&|^,])
)''', re.X)
LEVELS = {'||': 1, '&&': 2, '|': 3, '^': 4, '&': 5, '<': 6, '>': 6, '<=': 6, '>=': 6, '==': 6, '=': 6,
          '!=': 6, '+': 7, '-': 7, '*': 8, '/': 8, '%': 8}
QUESTIONS = {'has_event': 2, 'source_count': 3, 'strcmp_cpuid_str': 4}


def plain(name):
    if name.startswith('['):
        return name[1:-1]
    return re.sub(r'\\(.)|@', lambda m: m.group(1) or '/', name)


def tokens(text):
    at = 0
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError(f'column {at}: {text[at:at + 20]!r}')
        at = m.end()
        value = m.group(m.lastgroup)
        if m.lastgroup == 'op':
            value = re.sub(r'\s', '', value)
        yield m.lastgroup, value
    yield 'end', ''


class Parser:
    def __init__(self, text):
        self.tokens = list(tokens(text))
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, op):
        if self.take() != ('op', op):
            raise ValueError(f'no {op!r} at token {self.at}')

    def whole(self):
        tree = self.cond()
        if self.peek()[0] != 'end':
            raise ValueError(f'more follows at token {self.at}')
        return tree

    def cond(self):
        a = self.binary(1)
        if self.peek() != ('name', 'if'):
            return a
        self.take()
        c = self.binary(1)
        if self.take() != ('name', 'else'):
            raise ValueError('if without else')
        return ('if', a, c, self.cond())

    def binary(self, least):
        a = self.unary()
        while self.peek()[0] == 'op' and LEVELS.get(self.peek()[1], 0) >= least:
            op = self.take()[1]
            a = (op, a, self.binary(LEVELS[op] + 1))
        return a

    def unary(self):
        kind, text = self.take()
        if (kind, text) == ('op', '-'):
            return ('neg', self.unary())
        if (kind, text) == ('op', '('):
            tree = self.cond()
            self.expect(')')
            return tree
        if kind == 'hex':
            return ('number', float(int(text, 16)))
        if kind == 'number':
            return ('number', float(text))
        if kind == 'literal':
            return ('input', 1, plain(text[1:]))
        if kind not in ('name', 'bracket'):
            raise ValueError(f'{text!r} at token {self.at}')
        if kind == 'name' and self.peek() == ('op', '('):
            return self.call(text)
        return ('number', math.nan) if text == 'NaN' else ('input', 0, plain(text))

    def call(self, name):
        self.expect('(')
        if name in QUESTIONS:
            arg = plain(self.take()[1])
            self.expect(')')
            return ('input', QUESTIONS[name], arg)
        a = self.cond()
        self.expect(',')
        b = self.cond()
        self.expect(')')
        return (name, a, b)


def run(tree, values):
    kind = tree[0]
    if kind == 'number':
        return tree[1]
    if kind == 'input':
        return values[tree[1], tree[2]]
    if kind == 'neg':
        return -run(tree[1], values)
    if kind == 'if':
        c = run(tree[2], values)
        return math.nan if math.isnan(c) else run(tree[1] if c else tree[3], values)
    a, b = run(tree[1], values), run(tree[2], values)
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return {
        '||': lambda: float(bool(a) or bool(b)), '&&': lambda: float(bool(a) and bool(b)),
        '|': lambda: float(int(a) | int(b)), '^': lambda: float(int(a) ^ int(b)),
        '&': lambda: float(int(a) & int(b)), '<': lambda: float(a < b), '>': lambda: float(a > b),
        '<=': lambda: float(a <= b), '>=': lambda: float(a >= b), '==': lambda: float(a == b),
        '=': lambda: float(a == b), '!=': lambda: float(a != b), '+': lambda: a + b, '-': lambda: a - b,
        '*': lambda: a * b, '/': lambda: a / b if b else math.nan,
        '%': lambda: math.fmod(a, b) if b else math.nan, 'min': lambda: min(a, b),
        'max': lambda: max(a, b), 'd_ratio': lambda: a / b if b else 0.0,
    }[kind]()


def same(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or math.isclose(a, b, rel_tol=1e-9)
