"""Two participants of the official Python SDK talk to each other through the sandbox."""

import asyncio

from livekit import rtc

from harness import RATE, Recorder, check, dominant_frequency, eventually, loud_part, play, publish, sandbox, token, tone

ROOM = "interop"


async def join(url, identity, single):
    room = rtc.Room()
    recorders, texts, data = {}, [], []

    @room.on("track_subscribed")
    def _(track, publication, participant):
        recorders[participant.identity] = Recorder(track)

    @room.on("data_received")
    def _(packet):
        data.append((packet.participant.identity, packet.topic, bytes(packet.data)))

    async def read(reader, identity):
        texts.append((identity, reader.info.attributes.get("note"), await reader.read_all()))

    room.register_text_stream_handler("lk.chat", lambda reader, who: asyncio.ensure_future(read(reader, who)))
    await room.connect(url, token(identity, ROOM), rtc.RoomOptions(single_peer_connection=single))
    return room, recorders, texts, data


async def talk(url, single):
    print(f"-- {'one peer connection' if single else 'two peer connections'}", flush=True)
    alice, alice_hears, alice_texts, _ = await join(url, "alice", single)
    bob, bob_hears, bob_texts, bob_data = await join(url, "bob", single)
    await eventually(lambda: "bob" in alice.remote_participants, "alice sees bob join")
    check("alice" in bob.remote_participants, "bob finds alice in the room")

    alice_source, bob_source = await publish(alice), await publish(bob)
    await eventually(lambda: "alice" in bob_hears and "bob" in alice_hears, "each subscribes to the other's track")
    await asyncio.gather(play(alice_source, tone(440, 3)), play(bob_source, tone(1000, 3)))
    await asyncio.sleep(0.5)
    for listener, heard, expected in (("bob", bob_hears["alice"], 440), ("alice", alice_hears["bob"], 1000)):
        part = loud_part(heard.samples)
        check(2.5 * RATE < len(part) < 3.5 * RATE, f"{listener} hears about 3 s ({len(part) / RATE:.2f} s)")
        found = dominant_frequency(part)
        check(abs(found - expected) < 2, f"{listener} hears {expected} Hz ({found:.1f} Hz)")

    long = "žluťoučký kůň 🐎 " * 4000
    await alice.local_participant.send_text("hello bob", topic="lk.chat", attributes={"note": "short"})
    await bob.local_participant.send_text(long, topic="lk.chat", attributes={"note": "long"})
    await eventually(lambda: ("alice", "short", "hello bob") in bob_texts, "bob reads alice's text stream")
    await eventually(lambda: ("bob", "long", long) in alice_texts, "alice reads 80 kB of UTF-8 in many chunks")
    await alice.local_participant.publish_data(b"\x00\xff", reliable=True, topic="raw", destination_identities=["bob"])
    await eventually(lambda: ("alice", "raw", b"\x00\xff") in bob_data, "bob gets a raw packet")

    await alice.local_participant.set_attributes({"mood": "good"})
    await eventually(
        lambda: bob.remote_participants["alice"].attributes.get("mood") == "good", "attributes reach the other side")

    @bob.local_participant.register_rpc_method("double")
    async def _(call):
        return call.payload * 2

    answer = await alice.local_participant.perform_rpc(destination_identity="bob", method="double", payload="ab")
    check(answer == "abab", "a remote procedure call is answered")

    await alice.disconnect()
    await eventually(lambda: "alice" not in bob.remote_participants, "bob sees alice leave")
    await bob.disconnect()


async def main():
    with sandbox("--no-agent") as url:
        for single in (True, False):
            await talk(url, single)


asyncio.run(main())
