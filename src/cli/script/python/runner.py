# Runs a script written for perf's Python interface: python3 -c RUNNER FD SCRIPT [ARG...]. tacho writes the samples of a
# recording to the pipe FD, as a sequence of marshalled tuples whose first element is the name of a function below.
#
# The modules that such scripts import (perf_trace_context, Core, Util) are made here, so that they are found without perf.
import sys

# With -c, modules are looked for in the current directory first, where anyone may have put them: run() names the script's.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import collections
import marshal
import os
import types


# ---- perf_trace_context ----

class Context:
    """What a handler gets as its context: for common_pc() and the like."""

    __slots__ = ("pc", "flags", "lock_depth")

    def __init__(self, pc=0, flags=0, lock_depth=0):
        self.pc = pc
        self.flags = flags
        self.lock_depth = lock_depth


def _not_offered(name):
    def missing(*_):
        raise NotImplementedError(f"{name}() is not offered by 'tacho script -s'")
    missing.__name__ = name
    return missing


context_module = types.ModuleType("perf_trace_context", "The context of the sample that a handler was called for.")
context_module.perf_script_context = Context()
context_module.common_pc = lambda context: context.pc
context_module.common_flags = lambda context: context.flags
context_module.common_lock_depth = lambda context: context.lock_depth
for _name in ("perf_sample_insn", "perf_sample_srcline", "perf_sample_srccode", "perf_set_itrace_options",
              "perf_config_get"):
    setattr(context_module, _name, _not_offered(_name))


# ---- Core ----

core = types.ModuleType("Core", "Names of flags and symbols in the print formats of tracepoints.")
core.defaultdict = collections.defaultdict


def autodict():
    return collections.defaultdict(autodict)


flag_fields = autodict()
symbolic_fields = autodict()


def define_flag_field(event_name, field_name, delim):
    flag_fields[event_name][field_name]["delim"] = delim


def define_flag_value(event_name, field_name, value, field_str):
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    symbolic_fields[event_name][field_name]["values"] = autodict()


def define_symbolic_value(event_name, field_name, value, field_str):
    symbolic_fields[event_name][field_name]["values"][value] = field_str


def flag_str(event_name, field_name, value):
    field = flag_fields[event_name][field_name]
    names = field["values"] if field else {}
    if not value:
        return names[0] if names and 0 in names else ""
    found = []
    for bits in sorted(names):
        if bits and value & bits == bits:
            found.append(names[bits])
            value &= ~bits
    return f" {field['delim']} ".join(found) if found else ""


def symbol_str(event_name, field_name, value):
    field = symbolic_fields[event_name][field_name]
    names = field["values"] if field else {}
    return names[value] if value in names else ""


TRACE_FLAGS = ((0x01, "IRQS_OFF"), (0x02, "IRQS_NOSUPPORT"), (0x04, "NEED_RESCHED"), (0x08, "HARDIRQ"),
               (0x10, "SOFTIRQ"))


def trace_flag_str(value):
    if not value:
        return "NONE"
    return " | ".join(name for bit, name in TRACE_FLAGS if value & bit)


def taskState(state):
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain=None):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        return self.secs * 1000000000 + self.nsecs

    def ts_format(self):
        return f"{self.secs}.{self.nsecs // 1000}"


for _object in (autodict, define_flag_field, define_flag_value, define_symbolic_field, define_symbolic_value, flag_str,
                symbol_str, trace_flag_str, taskState, EventHeaders):
    setattr(core, _object.__name__, _object)
core.flag_fields, core.symbolic_fields = flag_fields, symbolic_fields
core.trace_flags = {0: "NONE", **dict(TRACE_FLAGS)}


# ---- Util ----

util = types.ModuleType("Util", "Times, statistics and names of system calls.")
util.NSECS_PER_SEC = 1000000000
util.FUTEX_WAIT, util.FUTEX_WAKE, util.FUTEX_PRIVATE_FLAG, util.FUTEX_CLOCK_REALTIME = 0, 1, 128, 256
util.FUTEX_CMD_MASK = ~(util.FUTEX_PRIVATE_FLAG | util.FUTEX_CLOCK_REALTIME)
util.errno, util.os = __import__("errno"), os


def avg(total, n):
    return total / n


def nsecs(secs, ns):
    return secs * util.NSECS_PER_SEC + ns


def nsecs_secs(ns):
    return ns / util.NSECS_PER_SEC


def nsecs_nsecs(ns):
    return ns % util.NSECS_PER_SEC


def nsecs_str(ns):
    """A tuple of one text, as in perf."""
    return ("%5u.%09u" % (nsecs_secs(ns), nsecs_nsecs(ns)),)


def add_stats(stats, key, value):
    """stats[key]: (least, most, average of the old average and the new value, number)."""
    if key not in stats:
        stats[key] = (value, value, value, 1)
        return
    least, most, average, count = stats[key]
    stats[key] = (min(least, value), max(most, value), (average + value) / 2, count + 1)


def clear_term():
    print("\x1b[H\x1b[2J")


def _machine_of_audit():
    try:
        import audit
        machines = {"x86_64": audit.MACH_86_64, "aarch64": audit.MACH_AARCH64, "ppc64": audit.MACH_PPC64,
                    "ppc64le": audit.MACH_PPC64LE, "s390x": audit.MACH_S390X}
        return audit, machines.get(os.uname().machine, audit.MACH_X86)
    except Exception:
        return None, None


AUDIT, MACHINE = _machine_of_audit()


def syscall_name(number):
    """The name as python3-audit has it; without that package the number, as under perf."""
    try:
        return AUDIT.audit_syscall_to_name(number, MACHINE)
    except Exception:
        return str(number)


def strerror(number):
    try:
        return util.errno.errorcode[abs(number)]
    except KeyError:
        return f"Unknown {number} errno"


for _object in (avg, nsecs, nsecs_secs, nsecs_nsecs, nsecs_str, add_stats, clear_term, syscall_name, strerror):
    setattr(util, _object.__name__, _object)


# ---- print formats ----

def _literals(text, at, opening="{", closing="}"):
    """The text of a bracketed group that starts at text[at], and where it ends; strings are skipped."""
    depth, i, quoted = 0, at, False
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c == opening:
            depth += 1
        elif c == closing:
            depth -= 1
            if not depth:
                return text[at + 1:i], i + 1
        i += 1
    return text[at + 1:], len(text)


def _split(text):
    """Splits at the commas outside of brackets and strings."""
    parts, depth, start, quoted, i = [], 0, 0, False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    parts.append(text[start:].strip())
    return parts


def _number(text):
    text = text.strip("() ").rstrip("uUlL")
    try:
        if "<<" in text:
            left, right = text.split("<<")
            return _number(left) << _number(right)
        if "|" in text:
            total = 0
            for part in text.split("|"):
                total |= _number(part)
            return total
        return int(text, 0)
    except (TypeError, ValueError):
        return None


def _field_of(argument):
    at = argument.rfind("REC->")
    name = argument[at + 5:] if at >= 0 else argument
    end = 0
    while end < len(name) and (name[end].isalnum() or name[end] == "_"):
        end += 1
    return name[:end]


def _define_values(event_name, field, pairs, define):
    for pair in pairs:
        if not pair.startswith("{"):
            continue
        parts = _split(_literals(pair, 0)[0])
        value = _number(parts[0]) if len(parts) == 2 else None
        if value is not None:
            define(event_name, field, value, parts[1].strip('"'))


def define_names(event_name, print_format):
    """Defines what __print_flags() and __print_symbolic() in the event's format name."""
    for function in "__print_flags", "__print_symbolic":
        at = print_format.find(function)
        while at >= 0:
            inside, end = _literals(print_format, print_format.find("(", at), "(", ")")
            arguments = _split(inside)
            field = _field_of(arguments[0])
            if function == "__print_flags" and len(arguments) > 1:
                define_flag_field(event_name, field, arguments[1].strip('"'))
                _define_values(event_name, field, arguments[2:], define_flag_value)
            else:
                define_symbolic_field(event_name, field)
                _define_values(event_name, field, arguments[1:], define_symbolic_value)
            at = print_format.find(function, end)


# ---- the script ----

script = types.ModuleType("__main__")
events = []


def handler_of(name):
    function = script.__dict__.get(name)
    return function if callable(function) else None


def argument_count(function):
    code = getattr(function, "__code__", None)
    count = code.co_argcount if code else -1
    return count - 1 if isinstance(function, types.MethodType) else count


class Event:
    def __init__(self, name, attr, handler_name, print_format, fields):
        self.name = name
        self.attr = attr
        self.is_tracepoint = handler_name is not None
        self.handler_name = handler_name
        self.print_format = print_format
        self.fields = fields
        self.named = False
        self.handler = handler_of(handler_name) if handler_name else handler_of("process_event")
        self.unhandled = None if self.handler or not handler_name else handler_of("trace_unhandled")
        self.count = argument_count(self.handler or self.unhandled) if self.handler or self.unhandled else 0


def add_event(*members):
    events.append(Event(*members))


def call(function, *arguments):
    function(*arguments)


def frame_dict(frame):
    ip, symbol, start, end, offset, dso = frame
    out = {"ip": ip}
    if symbol is not None:
        out["sym"] = {"start": start, "end": end, "name": symbol}
        out["sym_off"] = offset
    if dso is not None:
        out["dso"] = dso
    return out


def branch_dicts(branches):
    plain, symbols = [], []
    for source, target, flags, cycles, source_dso, target_dso, source_symbol, target_symbol in branches:
        plain.append({"from": source, "to": target, "mispred": bool(flags & 1), "predicted": bool(flags & 2),
                      "in_tx": bool(flags & 4), "abort": bool(flags & 8), "cycles": cycles,
                      "from_dsoname": source_dso, "to_dsoname": target_dso})
        symbols.append({"from": source_symbol, "to": target_symbol,
                        "pred": "M" if flags & 1 else "P" if flags & 2 else "-",
                        "in_tx": "X" if flags & 4 else "-", "abort": "A" if flags & 8 else "-"})
    return plain, symbols


SAMPLE_KEYS = ("pid", "tid", "cpu", "ip", "time", "period", "phys_addr", "addr", "values", "weight", "transaction",
               "datasrc", "datasrc_decode", "cpumode")


def sample_dict(event, sample, raw, comm, place, chain, branches, registers):
    out = {"ev_name": event.name, "attr": event.attr, "sample": dict(zip(SAMPLE_KEYS, sample)), "raw_buf": raw,
           "comm": comm}
    _, symbol, _, _, offset, dso, build_id = place
    if dso is not None:
        out["dso"] = dso
        out["dso_bid"] = build_id
    if symbol is not None:
        out["symbol"] = symbol
        out["symoff"] = offset
    out["callchain"] = chain
    out["brstack"], out["brstacksym"] = branch_dicts(branches)
    out["iregs"], out["uregs"] = registers
    return out


def on_sample(index, sample, raw, comm, place, frames, branches, registers, trace):
    event = events[index]
    if not event.handler and not event.unhandled:
        return
    chain = [frame_dict(frame) for frame in frames]
    if not event.is_tracepoint:
        call(event.handler, sample_dict(event, sample, raw, comm, place, chain, branches, registers))
        return
    if trace is None:
        return
    if not event.named:
        event.named = True
        define_names(event.handler_name, event.print_format)
    pid, flags, pc, lock_depth, values = trace
    values = [bytearray(value) if isinstance(value, bytes) else value for value in values]
    common = (sample[2], sample[4] // 1000000000, sample[4] % 1000000000, pid, comm, chain)
    context = Context(pc, flags, lock_depth)
    if event.handler:
        arguments = [event.handler_name, context, *common, *values]
    else:
        names = ("common_cpu", "common_s", "common_ns", "common_pid", "common_comm", "common_callchain")
        arguments = [event.handler_name, context, {**dict(zip(names, common)), **dict(zip(event.fields, values))}]
    if event.count == len(arguments) + 1:
        arguments.append(sample_dict(event, sample, raw, comm, place, chain, branches, registers))
    call(event.handler or event.unhandled, *arguments)


def on_switch(*arguments):
    function = handler_of("context_switch")
    if function:
        call(function, *arguments)


def on_throttle(name, *arguments):
    function = handler_of(name)
    if function:
        call(function, *arguments)


def on_stat(name, *arguments):
    """Counts of 'stat record': stat__EVENT(cpu, thread, time, value, enabled, running)."""
    function = handler_of(name)
    if function:
        call(function, *arguments)


MESSAGES = {function.__name__: function for function in (add_event, on_sample, on_switch, on_throttle, on_stat)}


def run(descriptor, path, arguments):
    stream = os.fdopen(descriptor, "rb", 1 << 20)
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    for module in (context_module, core, util):
        sys.modules[module.__name__] = module
    sys.modules["__main__"] = script
    script.__file__ = path
    script.__builtins__ = __builtins__
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec")
    exec(code, script.__dict__)
    begin = handler_of("trace_begin")
    if begin:
        begin()
    while True:
        try:
            name, *members = marshal.load(stream)
        except EOFError:
            break
        MESSAGES[name](*members)
    end = handler_of("trace_end")
    if end:
        end()


run(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
