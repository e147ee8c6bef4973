"""Writes recordings of tracepoints that this machine may not have, without any code of tacho.

    r = Recording(cpus=2)
    begin = r.event('lock:contention_begin', [('void *', 'lock_addr'), ('unsigned int', 'flags')])
    r.comm(7, 7, 'worker', 1000)
    r.sample(begin, cpu=0, pid=7, tid=7, time=2000, lock_addr=0xffff888000001000, flags=1, chain=[...])
    r.write('perf.data')

Fields that are called as a parameter, such as pid, are given by fields={...}. Types are those of C; 'char[16]' is an array, '__data_loc char[]' a string of any length. Samples are sorted by time, and
given to the CPUs' order as perf stores them: one after the other.
"""
import struct

TID, TIME, ID, CPU, PERIOD, IP, CHAIN, RAW = 1 << 1, 1 << 2, 1 << 6, 1 << 7, 1 << 8, 1 << 0, 1 << 5, 1 << 10
IDENTIFIER = 1 << 16
COMMON = [('unsigned short', 'common_type', 0, 2, 0), ('unsigned char', 'common_flags', 2, 1, 0),
          ('unsigned char', 'common_preempt_count', 3, 1, 0), ('int', 'common_pid', 4, 4, 1)]
SIZES = {'char': 1, 'bool': 1, 'u8': 1, 'unsigned char': 1, 'short': 2, 'u16': 2, 'unsigned short': 2, 'int': 4, 'u32': 4,
         'unsigned int': 4, 'pid_t': 4, 'dev_t': 4, 'unsigned': 4, 's32': 4, 'long': 8, 'unsigned long': 8, 'u64': 8, 's64': 8,
         'unsigned long long': 8, 'size_t': 8, 'sector_t': 8, 'ktime_t': 8, 'gfp_t': 4}
SIGNED = {'int', 'short', 'long', 's32', 's64', 'pid_t', 'ktime_t'}


HEADER_PAGE = (b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
               b'\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n'
               b'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
               b'\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n')
HEADER_EVENT = (b'# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n'
                b'\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n'
                b'\tdata max type_len  == 28\n')


def pad(data, to=8):
    return data + b'\0' * (-len(data) % to)


def string(text):
    text = pad(text.encode() + b'\0', 64)
    return struct.pack('<I', len(text)) + text


class Event:
    def __init__(self, name, number, fields, print_format):
        self.name, self.number, self.id = name, number, 1000 + number
        self.system, self.short = name.split(':')
        self.fields = {}
        at = 8
        lines = [f'\tfield:{t} {n};\toffset:{o};\tsize:{s};\tsigned:{g};\n' for t, n, o, s, g in COMMON] + ['\n']
        for kind, field in fields:
            base, _, count = kind.partition('[')
            if kind.startswith('__data_loc'):
                size, n, shown = 4, 4, f'{kind} {field}'
            elif count:
                size = SIZES[base]
                n, shown = size * int(count.rstrip(']')), f'{base} {field}[{count}'
            else:
                size = n = 8 if kind.endswith('*') else SIZES[kind]
                shown = f'{kind} {field}'
            at += -at % min(size, 8)
            signed = int(base in SIGNED and not kind.endswith('*'))
            lines.append(f'\tfield:{shown};\toffset:{at};\tsize:{n};\tsigned:{signed};\n')
            self.fields[field] = (kind, at, n)
            at += n
        self.size = at + -at % 4
        shown = print_format or ('"' + ' '.join(f'{f}=%d' for f in self.fields) + '", ' + ', '.join(f'REC->{f}' for f in self.fields))
        self.format = (f'name: {self.short}\nID: {number}\nformat:\n' + ''.join(lines) + f'\nprint fmt: {shown}\n').encode()

    def raw(self, tid, values):
        data = bytearray(self.size)
        struct.pack_into('<Hi', data, 0, self.number, 0)
        struct.pack_into('<i', data, 4, tid)
        extra = b''
        for name, value in values.items():
            kind, at, n = self.fields[name]
            if kind.startswith('__data_loc'):
                text = value.encode() + b'\0' if isinstance(value, str) else value
                struct.pack_into('<I', data, at, len(text) << 16 | (self.size + len(extra)))
                extra += text
            elif isinstance(value, (str, bytes)):
                text = (value.encode() if isinstance(value, str) else value)[:n]
                data[at:at + len(text)] = text
            else:
                data[at:at + n] = (value & ((1 << 8 * n) - 1)).to_bytes(n, 'little')
        return bytes(data) + extra


class Recording:
    def __init__(self, cpus=2, release='6.18.0', cpuid='GenuineIntel,6,85,4', arch='x86_64', chains=False):
        self.cpus, self.release, self.cpuid, self.arch, self.chains = cpus, release, cpuid, arch, chains
        self.events, self.records, self.start = [], [], []

    def event(self, name, fields, print_format=None):
        ev = Event(name, 300 + len(self.events), fields, print_format)
        self.events.append(ev)
        return ev

    def _trailer(self, pid, tid, time, cpu):
        return struct.pack('<IIQIIQ', pid, tid, time, cpu, 0, self.events[0].id)

    def comm(self, pid, tid, name, time=0):
        body = struct.pack('<II', pid, tid) + pad(name.encode() + b'\0')
        self._add(3, 0, body + self._trailer(pid, tid, time, 0), time)

    def fork(self, pid, tid, ppid, ptid, time=0, kind=7):
        body = struct.pack('<IIIIQ', pid, ppid, tid, ptid, time) + self._trailer(pid, tid, time, 0)
        self._add(kind, 0, body, time)

    def exit(self, pid, tid, ppid, ptid, time):
        self.fork(pid, tid, ppid, ptid, time, kind=4)

    def _add(self, kind, misc, body, time):
        self.records.append((time, len(self.records), struct.pack('<IHH', kind, misc, len(body) + 8) + body))

    def sample(self, ev, cpu, pid, tid, time, chain=None, ip=0xffffffff81000010, fields=None, **values):
        body = struct.pack('<QQIIQII', ev.id, ip, pid, tid, time, cpu, 0) + struct.pack('<Q', 1)
        if self.chains:
            words = [0xffffffffffffff80] + list(chain) if chain else []
            body += struct.pack(f'<Q{len(words)}Q', len(words), *words)
        raw = ev.raw(tid, {**values, **(fields or {})})
        raw += b'\0' * (-(len(raw) + 4) % 8)
        self._add(9, 1, body + struct.pack('<I', len(raw)) + raw, time)

    @property
    def sample_type(self):
        return IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER | (CHAIN if self.chains else 0)

    def _attr(self, ev):
        flags = 1 << 18 | 1 << 9 | 1 << 13		# sample_id_all, comm, task
        return struct.pack('<IIQQQQQ', 2, 128, ev.number, 1, self.sample_type, 4, flags) + b'\0' * 80

    def _tracing(self):
        out = b'\x17\x08\x44tracing0.6\0' + b'\0\x08' + struct.pack('<I', 4096)
        for name, text in ((b'header_page', HEADER_PAGE), (b'header_event', HEADER_EVENT)):
            out += name + b'\0' + struct.pack('<Q', len(text)) + text
        out += struct.pack('<I', 0)
        systems = sorted({ev.system for ev in self.events})
        out += struct.pack('<I', len(systems))
        for system in systems:
            mine = [ev for ev in self.events if ev.system == system]
            out += system.encode() + b'\0' + struct.pack('<I', len(mine))
            for ev in mine:
                out += struct.pack('<Q', len(ev.format)) + ev.format
        return out + struct.pack('<II', 0, 0) + struct.pack('<Q', 0)

    def _descriptions(self):
        out = struct.pack('<II', len(self.events), 128)
        for ev in self.events:
            out += self._attr(ev) + struct.pack('<I', 1) + string(ev.name) + struct.pack('<Q', ev.id)
        return out

    def _topology(self):
        cpus = f'0-{self.cpus - 1}'
        return (struct.pack('<I', 1) + string(cpus) + struct.pack('<I', self.cpus) +
                b''.join(string(str(i)) for i in range(self.cpus)) + struct.pack('<ii', 0, 0) * self.cpus)

    def _features(self):
        times = [t for t, _, r in self.records if struct.unpack_from('<I', r)[0] == 9] or [0]
        return {1: self._tracing(), 3: string('node'), 4: string(self.release), 5: string('6.18'), 6: string(self.arch),
                7: struct.pack('<II', self.cpus, self.cpus), 8: string('a processor'), 9: string(self.cpuid),
                10: struct.pack('<Q', 8 << 20), 11: struct.pack('<I', 1) + string('record'), 12: self._descriptions(),
                21: struct.pack('<QQ', min(times), max(times))}

    def write(self, path):
        data = b''.join(r for _, _, r in sorted(self.records))
        ids = b''.join(struct.pack('<Q', ev.id) for ev in self.events)
        attrs_at = 104 + len(ids)
        attrs = b''.join(self._attr(ev) + struct.pack('<QQ', 104 + 8 * i, 8) for i, ev in enumerate(self.events))
        data_at = attrs_at + len(attrs)
        features = self._features()
        header = b'PERFILE2' + struct.pack('<QQ', 104, 144) + struct.pack('<QQ', attrs_at, len(attrs))
        header += struct.pack('<QQQQ', data_at, len(data), 0, 0)
        header += struct.pack('<QQQQ', sum(1 << bit for bit in features), 0, 0, 0)
        index, payload, at = b'', b'', data_at + len(data) + 16 * len(features)
        for bit in sorted(features):
            index += struct.pack('<QQ', at + len(payload), len(features[bit]))
            payload += features[bit]
        with open(path, 'wb') as f:
            f.write(header + ids + attrs + data + index + payload)
