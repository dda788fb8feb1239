#!/usr/bin/env python3
"""LiveKitProtocol against the official descriptors (PyPI `livekit-protocol`) and Python's protobuf.

Every declared message has exactly the fields of its descriptor; random messages, legal but odd encodings and damaged
bytes mean the same to both; the recorded frames hold what the official decoder found in them.
SEED and ROUNDS in the environment choose another run.
"""

import base64
import gzip
import importlib
import json
import os
import pathlib
import random as randomness
import re
import subprocess

from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from wire import fill, is_map, mutated, scrambled

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("PROTOCOL_TOOL", ROOT / ".build" / "debug" / "protocol-tool"))
SEED = int(os.environ.get("SEED", "1"))
ROUNDS = int(os.environ.get("ROUNDS", "40"))

for module in ("models", "rtc", "metrics"):
    importlib.import_module(f"livekit.protocol.{module}")
POOL = descriptor_pool.Default()


def check(condition, what, details=()):
    """One assertion, printed: a run reads as the list of what holds."""
    print(("ok    " if condition else "FAILED ") + what, flush=True)
    if not condition:
        print("\n".join(f"       {line}" for line in list(details)[:20]))
        raise SystemExit(1)


def tool(*arguments, lines=None):
    if not TOOL.exists():
        raise SystemExit(f"{TOOL} is not built: run `swift build --product protocol-tool` first")
    text = None if lines is None else "".join(line + "\n" for line in lines)
    return subprocess.run([TOOL, *arguments], input=text, capture_output=True, text=True, check=True).stdout


def recode(messages):
    """Decodes and encodes (name, bytes) pairs in Swift: bytes, or the reason why a pair does not decode."""
    answers = tool("recode", lines=[f"{name} {data.hex()}" for name, data in messages]).splitlines()
    check(len(answers) == len(messages), f"{len(messages)} messages are answered")
    return [answer if answer.startswith(("!", "?")) else bytes.fromhex(answer) for answer in answers]


def message_class(name):
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(name))


def canonical(message):
    return message.SerializeToString(deterministic=True)


# Declarations


def type_name(field):
    if field.message_type is not None:
        return field.message_type.full_name
    if field.enum_type is not None:
        return field.enum_type.full_name
    names = {getattr(field, name): name for name in dir(field) if name.startswith("TYPE_")}
    return names[field.type].removeprefix("TYPE_").lower()


def described(field):
    """What the official descriptor says of a field, in the words of the tool."""
    oneof = field.containing_oneof
    is_optional = oneof is not None and oneof.name == "_" + field.name
    label, key, kind = "singular", None, type_name(field)
    if is_map(field):
        label = "map"
        key = type_name(field.message_type.fields_by_name["key"])
        kind = type_name(field.message_type.fields_by_name["value"])
    elif field.is_repeated:
        label = "repeated"
    elif is_optional and field.message_type is None:
        label = "optional"  # Messages have presence with or without the word.
    return {
        "number": field.number,
        "name": field.name,
        "type": kind,
        "label": label,
        "key": key,
        "oneof": None if oneof is None or is_optional else oneof.name,
    }


def declared(field):
    return {key: field.get(key) for key in ("number", "name", "type", "label", "key", "oneof")}


def check_declarations(declarations):
    differences = []
    for message in declarations["messages"]:
        official = {field.number: described(field) for field in POOL.FindMessageTypeByName(message["name"]).fields}
        ours = {field["number"]: declared(field) for field in message["fields"]}
        for number in sorted(official.keys() | ours.keys()):
            if official.get(number) != ours.get(number):
                differences.append(f"{message['name']}: official {official.get(number)}, declared {ours.get(number)}")
        if list(ours) != sorted(ours):
            differences.append(f"{message['name']}: fields are not in the order of their numbers")
    fields = sum(len(message["fields"]) for message in declarations["messages"])
    check(not differences, f"{len(declarations['messages'])} messages with {fields} fields are as described", differences)

    differences = []
    for enum in declarations["enums"]:
        official = [(value.number, value.name) for value in POOL.FindEnumTypeByName(enum["name"]).values]
        ours = [(value["number"], value["name"]) for value in enum["values"]]
        if sorted(official) != ours:
            differences.append(f"{enum['name']}: official {sorted(official)}, declared {ours}")
    check(not differences, f"{len(declarations['enums'])} enums are as described", differences)

    sources = "".join(path.read_text() for path in (ROOT / "Sources" / "LiveKitProtocol").rglob("*.swift"))
    for kind, key in (("Message", "messages"), ("Enum", "enums")):
        written = set(re.findall(rf'proto{kind}Name = "([\w.]+)"', sources))
        seen = {entry["name"] for entry in declarations[key]}
        check(written == seen, f"no {kind.lower()} declaration went unseen", sorted(written ^ seen))


# Values


def check_random_messages(names, random):
    originals, sent = [], []
    for name in names:
        for _ in range(ROUNDS):
            message = fill(message_class(name)(), random)
            originals.append((name, message))
            sent.append((name, canonical(message)))
    answers = recode(sent)
    wrong = []
    for (name, message), (_, data), answer in zip(originals, sent, answers):
        if isinstance(answer, str) or canonical(message_class(name).FromString(answer)) != data:
            wrong.append(f"{name} {data.hex()} -> {answer if isinstance(answer, str) else answer.hex()}")
    check(not wrong, "random messages from Python decode, and come back equal", wrong)

    odd = [(name, scrambled(message, random)) for name, message in originals]
    strange = []
    for (name, data), (_, message) in zip(odd, originals):
        parsed = message_class(name).FromString(data)
        parsed.DiscardUnknownFields()
        if canonical(parsed) != canonical(message):
            strange.append(f"{name} {data.hex()}")
    check(not strange, "odd encodings mean the same to Python", strange)
    wrong = [
        f"{name} {data.hex()} -> {odd_answer if isinstance(odd_answer, str) else odd_answer.hex()}"
        for (name, data), odd_answer, answer in zip(odd, recode(odd), answers)
        if odd_answer != answer
    ]
    check(not wrong, "odd encodings decode to the same messages", wrong)

    # What Swift wrote goes through Python and is read by Swift once more.
    returned = [(name, message_class(name).FromString(answer).SerializeToString()) for (name, _), answer in zip(sent, answers)]
    wrong = [f"{name} {data.hex()}" for (name, data), again, answer in zip(returned, recode(returned), answers) if again != answer]
    check(not wrong, "messages from Swift pass through Python and come back equal", wrong)
    return sent


def sets_map_entries_aside(message):
    """Whether Python took a map entry for unknown because something in it is: C++, Go and Swift keep the rest of it."""
    maps = {field.number for field in message.DESCRIPTOR.fields if is_map(field)}
    if maps.intersection(unknown.field_number for unknown in UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        inner = value.values() if is_map(field) else value if field.is_repeated else [value]
        if any(isinstance(item, Message) and sets_map_entries_aside(item) for item in inner):
            return True
    return False


def check_damaged_messages(corpus, random):
    damaged = [(name, mutated(data, random)) for name, data in corpus for _ in range(2)]
    wrong, accepted = [], 0
    for (name, data), answer in zip(damaged, recode(damaged)):
        try:
            message = message_class(name).FromString(data)
            accepted += 1
            if sets_map_entries_aside(message):
                continue
            message.DiscardUnknownFields()
            expected = canonical(message)
        except DecodeError:
            expected = None
        got = None if isinstance(answer, str) else canonical(message_class(name).FromString(answer))
        if got != expected:
            wrong.append(f"{name} {data.hex()}: Python {expected and expected.hex()}, Swift {got.hex() if got else answer}")
    check(not wrong, f"both refuse {len(damaged) - accepted} of {len(damaged)} damaged messages and agree on the rest", wrong)


# JSON


def check_json(corpus):
    official = []
    for name, data in corpus:
        if name == "google.protobuf.Timestamp":  # A string, which is no message of its own.
            continue
        message = message_class(name).FromString(data)
        try:
            official.append((name, data, json_format.MessageToDict(message), message))
        except (ValueError, json_format.Error):  # A time out of the range that JSON has.
            continue
    check(len(official) > len(corpus) * 0.9, f"{len(official)} of them have a JSON form")
    answers = tool("to-json", lines=[f"{name} {data.hex()}" for name, data, _, _ in official]).splitlines()
    wrong = [
        f"{name} {expected}: {answer}"
        for (name, _, expected, _), answer in zip(official, answers, strict=True)
        if answer.startswith("!") or json.loads(answer) != expected
    ]
    check(not wrong, "their JSON form is the official one", wrong)
    for proto_names in (False, True):
        lines = []
        for name, _, _, message in official:
            text = json_format.MessageToJson(message, preserving_proto_field_name=proto_names, indent=None)
            lines.append(f"{name} {text.encode().hex()}")
        wrong = [
            f"{line}: {answer}"
            for line, (name, data, _, _), answer in zip(lines, official, tool("from-json", lines=lines).splitlines(), strict=True)
            if answer.startswith("!") or canonical(message_class(name).FromString(bytes.fromhex(answer))) != data
        ]
        check(not wrong, f"JSON with {'proto' if proto_names else 'lowerCamelCase'} names decodes to them", wrong)


# Captures


def check_captures():
    frames, joins = [], []
    for path in sorted((ROOT / "Tests" / "Fixtures" / "captures").glob("*.jsonl")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            entry = json.loads(line)
            where = f"{path.name}:{number}"
            if entry.get("kind") == "frame" and entry.get("base64"):
                name = "livekit.SignalResponse" if entry["dir"] == "server" else "livekit.SignalRequest"
                frames.append((where, name, base64.b64decode(entry["base64"]), entry["message"]))
            elif entry.get("kind") == "ws_open" and entry.get("join_request"):
                joins.append((where, base64.urlsafe_b64decode(entry["query"]["join_request"]), entry["join_request"]))
    wrapped = recode([("livekit.WrappedJoinRequest", data) for _, data, _ in joins])
    for (where, _, expected), data in zip(joins, wrapped):
        wrapper = message_class("livekit.WrappedJoinRequest").FromString(data)
        inner = gzip.decompress(wrapper.join_request) if wrapper.compression == 1 else wrapper.join_request
        frames.append((where, "livekit.JoinRequest", inner, expected))
    wrong = []
    for (where, name, _, expected), answer in zip(frames, recode([(name, data) for _, name, data, _ in frames])):
        if isinstance(answer, str):
            wrong.append(f"{where}: {answer}")
        elif message_class(name).FromString(answer) != json_format.ParseDict(expected, message_class(name)()):
            wrong.append(f"{where}: {expected}")
    check(len(frames) > 200 and not wrong, f"{len(frames)} recorded messages hold what was recorded of them", wrong)


def main():
    declarations = json.loads(tool("declarations"))
    check_declarations(declarations)
    names = [message["name"] for message in declarations["messages"]]
    roots = ["livekit.SignalRequest", "livekit.SignalResponse", "livekit.JoinRequest", "livekit.DataPacket"]
    print(f"seed {SEED}")
    random = randomness.Random(SEED)
    corpus = check_random_messages(names + roots * 8, random)
    check_json(corpus)
    check_damaged_messages(corpus, random)
    check_captures()


if __name__ == "__main__":
    main()
