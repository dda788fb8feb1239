"""Random protobuf messages, and the many ways in which the same message may be written on the wire."""

import struct

from google.protobuf.descriptor import FieldDescriptor as Field

STRINGS = ["", "a", "alice", "lk.transcription", "日本語", "é" * 40, "\x00", "👋🏽", "x" * 130, "TR_AMK6rTQtWFMBgj"]
INTEGERS = [0, 1, -1, 2, 127, 128, 300, 16383, 16384, 2**31 - 1, -(2**31), 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 0.1, -3.5e38, 1.1754944e-38, float("inf"), float("-inf")]
SIGNED_32, UNSIGNED_32 = {Field.TYPE_INT32, Field.TYPE_ENUM}, {Field.TYPE_UINT32}
SIGNED_64, UNSIGNED_64 = {Field.TYPE_INT64}, {Field.TYPE_UINT64}
VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def scalar(field, random):
    """A value of the field's type; extremes are common."""
    kind = field.type
    if kind == Field.TYPE_BOOL:
        return random.random() < 0.5
    if kind == Field.TYPE_STRING:
        return random.choice(STRINGS)
    if kind == Field.TYPE_BYTES:
        return random.randbytes(random.choice([0, 1, 5, 127, 128, 200]))
    if kind == Field.TYPE_FLOAT:
        return struct.unpack("<f", struct.pack("<f", random.choice(FLOATS[:4] + FLOATS[5:])))[0]
    if kind == Field.TYPE_DOUBLE:
        return random.choice(FLOATS)
    if kind == Field.TYPE_ENUM and random.random() < 0.8:
        return random.choice(field.enum_type.values).number
    value = random.choice(INTEGERS) if random.random() < 0.7 else random.getrandbits(64)
    bits = 64 if kind in SIGNED_64 | UNSIGNED_64 else 32
    value %= 2**bits
    if kind in SIGNED_32 | SIGNED_64 and value >= 2 ** (bits - 1):
        value -= 2**bits
    return value


def fill(message, random, depth=0):
    """Sets some fields of a message, and of the messages in it, to random values."""
    density = random.choice([0.1, 0.4, 0.9]) / (1 + depth / 2)
    for field in message.DESCRIPTOR.fields:
        if random.random() > density:
            continue
        count = random.choice([1, 1, 2, 3])
        if is_map(field):
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            entries = getattr(message, field.name)
            for _ in range(count):
                if value.message_type is None:
                    entries[scalar(key, random)] = scalar(value, random)
                else:
                    fill(entries[scalar(key, random)], random, depth + 1)
        elif field.is_repeated and field.message_type is not None:
            for _ in range(count):
                fill(getattr(message, field.name).add(), random, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(field, random) for _ in range(count))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), random, depth + 1)
        else:
            setattr(message, field.name, scalar(field, random))
    return message


def varint(value, random=None):
    """A varint; with `random`, now and then with more bytes than it needs."""
    value %= 2**64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    if random is not None and len(out) < 8 and random.random() < 0.1:
        out[-1] |= 0x80
        out += b"\x80\x00"
    return bytes(out)


def tag(number, kind, random=None):
    return varint(number << 3 | kind, random if number < 2**10 else None)


def wire_type(field):
    if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE):
        return DELIMITED
    return {Field.TYPE_FLOAT: FIXED32, Field.TYPE_DOUBLE: FIXED64}.get(field.type, VARINT)


def content(field, value, random):
    """One value without its tag."""
    if field.type == Field.TYPE_MESSAGE:
        inner = scrambled(value, random)
        return varint(len(inner), random) + inner
    if field.type == Field.TYPE_STRING:
        value = value.encode()
    if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES):
        return varint(len(value), random) + value
    if field.type == Field.TYPE_FLOAT:
        return struct.pack("<f", value)
    if field.type == Field.TYPE_DOUBLE:
        return struct.pack("<d", value)
    return varint(int(value), random)


def unknown(random, used):
    """A field that nobody declares, or a declared one with a wire type that it does not have."""
    number = random.choice([900, 5000, 2**29 - 1])
    kind = random.choice([VARINT, FIXED64, DELIMITED, START_GROUP, FIXED32])
    if used and random.random() < 0.3:
        field = random.choice(used)
        number = field.number
        kind = FIXED64 if wire_type(field) != FIXED64 else FIXED32
    body = {
        VARINT: lambda: varint(random.getrandbits(63)),
        FIXED64: lambda: random.randbytes(8),
        FIXED32: lambda: random.randbytes(4),
        DELIMITED: lambda: varint(3) + random.randbytes(3),
        START_GROUP: lambda: unknown(random, []) + tag(number, END_GROUP),
    }[kind]()
    return tag(number, kind) + body


def scrambled(message, random):
    """The message in an encoding that is legal and unlike what any encoder writes: fields out of order, packed and
    not, scalars that are replaced later, messages in two parts, overlong varints, unknown fields and groups."""
    runs = []  # Each run keeps its order; the runs are interleaved.
    for field, value in message.ListFields():
        kind, number = wire_type(field), field.number
        one = lambda item: tag(number, kind, random) + content(field, item, random)
        if is_map(field):
            runs.append([map_entry(field, key, value[key], random) for key in value])
        elif field.is_repeated and kind != DELIMITED:
            run, items = [], list(value)
            while items:
                chunk = items[: random.randint(1, len(items))]
                items = items[len(chunk) :]
                if random.random() < 0.5:
                    packed = b"".join(content(field, item, random) for item in chunk)
                    run.append(tag(number, DELIMITED, random) + varint(len(packed), random) + packed)
                else:
                    run += [one(item) for item in chunk]
            runs.append(run)
        elif field.is_repeated:
            runs.append([one(item) for item in value])
        elif field.message_type is not None:
            runs.append(parts(field, value, random))
        elif random.random() < 0.2:
            runs.append([one(scalar(field, random)), one(value)])
        else:
            runs.append([one(value)])
    for _ in range(random.choice([0, 0, 1, 2])):
        runs.append([unknown(random, list(message.DESCRIPTOR.fields))])
    out = b""
    while runs:
        run = random.choice(runs)
        out += run.pop(0)
        if not run:
            runs.remove(run)
    return out


def parts(field, value, random):
    """A message field whole, or in two parts that are merged."""
    fields = value.ListFields()
    whole = [tag(field.number, DELIMITED, random) + content(field, value, random)]
    if len(fields) < 2 or random.random() < 0.6:
        return whole
    first, second = type(value)(), type(value)()
    first.CopyFrom(value)
    second.CopyFrom(value)
    for index, (inner, _) in enumerate(fields):
        (first if index % 2 else second).ClearField(inner.name)
    return [tag(field.number, DELIMITED, random) + content(field, half, random) for half in (first, second)]


def map_entry(field, key, value, random):
    keys, values = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
    halves = [
        tag(1, wire_type(keys), random) + content(keys, key, random),
        tag(2, wire_type(values), random) + content(values, value, random),
    ]
    if random.random() < 0.3:
        halves.reverse()
    entry = b"".join(halves)
    return tag(field.number, DELIMITED, random) + varint(len(entry), random) + entry


def mutated(data, random):
    """The bytes with a few of them altered, dropped, repeated or cut off."""
    data = bytearray(data)
    for _ in range(random.randint(1, 3)):
        if not data:
            break
        at = random.randrange(len(data))
        match random.randrange(5):
            case 0:
                data[at] ^= 1 << random.randrange(8)
            case 1:
                data[at] = random.choice([0, 0x7F, 0x80, 0xFF, random.randrange(256)])
            case 2:
                del data[at : at + random.randint(1, 8)]
            case 3:
                data[at:at] = data[at : at + random.randint(1, 16)]
            case 4:
                del data[at:]
    return bytes(data)
