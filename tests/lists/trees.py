"""Trees as sysfs shows them, made from tables: the PMUs of some CPUs and the formats that the kernel
gives them. Only what an event list needs is there.

    make(top, "skx")         writes top/bus/event_source/devices/...
"""
import os

CORE = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "pc": "config:19",
    "inv": "config:23", "cmask": "config:24-31", "offcore_rsp": "config1:0-63",
    "ldlat": "config1:0-15", "frontend": "config1:0-23",
}
ATOM = {k: v for k, v in CORE.items() if k != "frontend"}
WIDE = dict(CORE, umask="config:8-15,40-47", eq="config:36")
BOX = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
    "thresh": "config:24-31",
}
EXT = {"event": "config:0-7,21"}
FREE = {"event": "config:0-7", "umask": "config:8-15"}
LONG = {"umask": "config:8-15,32-55"}
SKX_IIO = dict(BOX, thresh="config:24-35", ch_mask="config:36-43", fc_mask="config:44-46")
ICX_IIO = dict(BOX, thresh="config:24-35", ch_mask="config:36-47", fc_mask="config:48-50")
CLIENT = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
    "cmask": "config:24-28",
}


def some(name, n, form):
    return {f"{name}_{i}": form for i in range(n)}


def server(core, iio, long_boxes, plain_boxes, free=()):
    pmus = {"cpu": core}
    pmus |= some("uncore_iio", 3, iio)
    for box in long_boxes:
        pmus |= some("uncore_" + box, 2, BOX | LONG)
    for box in plain_boxes:
        pmus |= some("uncore_" + box, 2, BOX)
    for box in free:
        pmus |= some(f"uncore_{box}_free_running", 2, FREE)
    pmus["uncore_pcu"] = BOX
    pmus["uncore_ubox"] = BOX
    return pmus


TREES = {
    "skx": server(CORE | {"any": "config:21"}, SKX_IIO, ["upi"], ["cha", "irp", "m2m", "m3upi", "imc"]),
    "icx": server(CORE, ICX_IIO, ["cha", "upi", "m2m"], ["irp", "m3upi", "imc", "m2pcie"], ["iio", "imc"]),
    "spr": server(CORE, ICX_IIO, ["cha", "upi", "m2m", "m2hbm", "mdf", "m3upi", "m2pcie", "cxlcm", "cxldp"],
                  ["irp", "imc", "mchbm"], ["iio"]),
    "gnr": server(CORE, ICX_IIO, ["cha", "upi", "b2cmi", "b2upi", "b2hot", "b2cxl", "chacms", "mdf"],
                  ["irp", "imc", "cxlcm", "cxldp"], ["iio"]) |
           some("uncore_cha", 2, BOX | {"umask": "config:8-15,32-63"}),
    "jkt": {
        "cpu": CORE, "uncore_pcu": BOX, "uncore_ubox": BOX, "uncore_ha": BOX, "uncore_r2pcie": BOX,
        **some("uncore_cbox", 8, BOX), **some("uncore_qpi", 2, BOX | EXT), **some("uncore_r3qpi", 2, BOX),
        **some("uncore_imc", 4, BOX),
    },
    "adl": {
        "cpu_core": CORE, "cpu_atom": ATOM, "uncore_clock": CLIENT, "uncore_arb_0": CLIENT,
        "uncore_arb_1": CLIENT, **some("uncore_imc", 2, CLIENT), **some("uncore_imc_free_running", 2, FREE),
    },
    "nvl": {"cpu_core": WIDE, "cpu_atom": WIDE},
    "amd": {
        "cpu": {"event": "config:0-7,32-35", "umask": "config:8-15", "edge": "config:18",
                "inv": "config:23", "cmask": "config:24-31"},
        "amd_l3": {"event": "config:0-7", "umask": "config:8-15", "coreid": "config:42-44",
                   "enallcores": "config:47", "enallslices": "config:46", "sliceid": "config:48-50",
                   "threadmask": "config:56-57"},
        "amd_df": {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"},
        "power": {"event": "config:0-7"},
    },
    "arm": {"armv8_pmuv3_0": {"event": "config:0-15"}},
}


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text + "\n")


def make(top, cpu):
    devices = os.path.join(top, "bus", "event_source", "devices")
    for number, (name, form) in enumerate(sorted(TREES[cpu].items())):
        put(os.path.join(devices, name, "type"), str(4 if name == "cpu" else 10 + number))
        core = name.startswith(("cpu", "armv8"))
        if name != "cpu":
            put(os.path.join(devices, name, "cpus" if core else "cpumask"), "0")
        for key, bits in form.items():
            put(os.path.join(devices, name, "format", key), bits)
    if cpu == "arm":
        put(os.path.join(top, "devices/system/cpu/cpu0/regs/identification/midr_el1"), "0x00000000410fd9c0")
    return top
