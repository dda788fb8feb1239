"""A participant of the official Python SDK loses its signal connection and resumes its session with the sandbox."""

import asyncio

from livekit import rtc

from harness import RATE, Recorder, check, dominant_frequency, eventually, loud_part, play, publish, sandbox, token, tone

ROOM = "interop-resume"


class Proxy:
    """Passes TCP connections on to the sandbox and cuts them when told to; media goes around it."""

    def __init__(self, url):
        self.target = int(url.rsplit(":", 1)[1])
        self.writers = []

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader, writer):
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers += [writer, upstream_writer]
        await asyncio.gather(self._pump(reader, upstream_writer), self._pump(upstream_reader, writer))

    async def _pump(self, reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def cut(self):
        for writer in self.writers:
            writer.transport.abort()
        self.writers = []


async def resume(url, single):
    print(f"-- {'one peer connection' if single else 'two peer connections'}", flush=True)
    proxy = Proxy(url)
    alice, bob, states, data, heard = rtc.Room(), rtc.Room(), [], [], {}
    for name, room, address in (("alice", alice, await proxy.start()), ("bob", bob, url)):
        room.on("reconnected", lambda name=name: states.append(f"{name} reconnected"))
        room.on("disconnected", lambda reason, name=name: states.append(f"{name} disconnected: {reason}"))
        room.on("data_received", lambda packet, name=name: data.append((name, bytes(packet.data))))
        room.on(
            "track_subscribed",
            lambda track, publication, participant, name=name: heard.__setitem__(name, Recorder(track)))
        await room.connect(address, token(name, ROOM), rtc.RoomOptions(single_peer_connection=single))
    sources = await publish(alice), await publish(bob)
    await eventually(lambda: set(heard) == {"alice", "bob"}, "both hear each other")
    sid = alice.local_participant.sid

    proxy.cut()
    await bob.local_participant.publish_data(b"meanwhile", reliable=True)
    await eventually(lambda: "alice reconnected" in states, "alice resumes after the cut", 20)
    check(alice.local_participant.sid == sid, "under the same sid")
    before = {name: len(recorder.samples) for name, recorder in heard.items()}
    await asyncio.gather(play(sources[0], tone(700, 1.5)), play(sources[1], tone(900, 1.5)))
    await asyncio.sleep(0.5)
    for name, frequency in (("bob", 700), ("alice", 900)):
        part = loud_part(heard[name].samples[before[name]:])
        check(len(part) > 1.3 * RATE and abs(dominant_frequency(part) - frequency) < 2, f"{name} hears {frequency} Hz")
    await eventually(lambda: ("alice", b"meanwhile") in data, "what was sent meanwhile arrives")
    await alice.local_participant.publish_data(b"afterwards", reliable=True)
    await eventually(lambda: ("bob", b"afterwards") in data, "data goes out again")
    await alice.local_participant.set_attributes({"state": "back"})
    await eventually(
        lambda: bob.remote_participants["alice"].attributes.get("state") == "back", "and so do attributes")
    check(states == ["alice reconnected"], f"nothing else happened ({states})")
    await alice.disconnect()
    await bob.disconnect()
    proxy.server.close()


async def main():
    with sandbox("--no-agent") as url:
        for single in (True, False):
            await resume(url, single)


asyncio.run(main())
