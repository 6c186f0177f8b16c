"""Rows for the tests of the page: four pumps, one of them with a fault that ends and one with a fault that lasts."""

import random

START = 1767225600  # 2026-01-01T00:00:00Z
HEADER = "time,pump,flow,pressure,temperature\n"


def pumps(minutes=1500, first_minute=0, fault=None, seed=5):
    """fault: (pump, first minute, last minute) that is faulty besides the one that ends."""
    noise = random.Random(seed + first_minute)
    lines = [HEADER]
    for minute in range(first_minute, first_minute + minutes):
        for pump in range(4):
            flow, pressure, temperature = 40 + noise.gauss(0, 1.5), 5.2 + noise.gauss(0, 0.15), 58 + noise.gauss(0, 1.5)
            for name, first, last in ((2, 1200, 1214), fault or (9, 0, 0)):
                if pump == name and first <= minute <= last:
                    flow, pressure = noise.uniform(60, 80), noise.uniform(0.2, 1.5)
            lines.append(f"{START + 60 * minute},pump-{pump},{flow:.2f},{pressure:.2f},{temperature:.2f}\n")
    return "".join(lines)


def fleet(hosts, rows, seed=1):
    noise = random.Random(seed)
    lines = ["time,host,load\n"]
    for row in range(rows):
        lines += [f"{START + row},host-{host:05d},{noise.gauss(5, 1):.3f}\n" for host in range(hosts)]
    return "".join(lines)
