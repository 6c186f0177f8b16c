"""What agents send, made by hand: protobuf by its four wire types, and snappy blocks without compression."""

import struct

STALE = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]


def varint(number):
    number &= 2**64 - 1
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def whole(field, number):
    return varint(field << 3) + varint(number)


def double(field, number):
    return varint(field << 3 | 1) + struct.pack("<d", number)


def fixed(field, number):
    return varint(field << 3 | 1) + struct.pack("<Q", number & (2**64 - 1))


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def snappy(content):
    """One literal after the other."""
    out = varint(len(content))
    for at in range(0, len(content), 60):
        part = content[at : at + 60]
        out += bytes([len(part) - 1 << 2]) + part
    return out


# ---- Prometheus remote write ----


def sample(value, seconds):
    return double(1, value) + whole(2, round(seconds * 1000))


def histogram(count, total, seconds, gauge=False):
    return whole(1, count) + double(3, total) + (whole(14, 3) if gauge else b"") + whole(15, round(seconds * 1000))


def series(name, labels, samples=(), histograms=()):
    pairs = sorted({"__name__": name, **labels}.items())
    return block(
        1,
        b"".join(block(1, block(1, key) + block(2, value)) for key, value in pairs)
        + b"".join(block(2, sample(*one)) for one in samples)
        + b"".join(block(4, histogram(*one)) for one in histograms),
    )


# ---- OTLP ----


def attribute(key, value):
    if isinstance(value, bool):
        any_value = whole(2, value)
    elif isinstance(value, int):
        any_value = whole(3, value)
    elif isinstance(value, float):
        any_value = double(4, value)
    else:
        any_value = block(1, value)
    return block(1, key) + block(2, any_value)


def number_point(value, seconds, attributes=None, flags=0):
    return (
        b"".join(block(7, attribute(*pair)) for pair in (attributes or {}).items())
        + fixed(3, round(seconds * 1e9))
        + (fixed(6, value) if isinstance(value, int) else double(4, value))
        + (whole(8, flags) if flags else b"")
    )


def gauge(name, *points):
    return block(1, name) + block(5, b"".join(block(1, point) for point in points))


def total(name, *points, temporality=2, monotonic=True):
    return block(1, name) + block(7, b"".join(block(1, point) for point in points) + whole(2, temporality) + whole(3, monotonic))


def distribution(name, seconds, count, total, bounds=(), buckets=(), temporality=2, low=None, high=None):
    point = fixed(3, round(seconds * 1e9)) + fixed(4, count) + double(5, total)
    point += block(6, b"".join(struct.pack("<Q", one) for one in buckets)) + block(7, b"".join(struct.pack("<d", one) for one in bounds))
    point += (double(11, low) if low is not None else b"") + (double(12, high) if high is not None else b"")
    return block(1, name) + block(9, block(1, point) + whole(2, temporality))


def exponential(name, seconds, count, total):
    return block(1, name) + block(10, block(1, fixed(3, round(seconds * 1e9)) + fixed(4, count) + double(5, total)) + whole(2, 2))


def summary(name, seconds, count, total, quantiles):
    point = fixed(3, round(seconds * 1e9)) + fixed(4, count) + double(5, total)
    point += b"".join(block(6, double(1, quantile) + double(2, value)) for quantile, value in quantiles.items())
    return block(1, name) + block(11, block(1, point))


def resource_metrics(resource, *metrics):
    attributes = b"".join(block(1, attribute(*pair)) for pair in resource.items())
    return block(1, block(1, attributes) + block(2, b"".join(block(2, metric) for metric in metrics)))
