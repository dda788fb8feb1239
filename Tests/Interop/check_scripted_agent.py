"""A user with the official Python SDK talks with the sandbox's scripted agent."""

import asyncio

import numpy as np
from livekit import rtc

from harness import (
    RATE, ROOT, Recorder, check, eventually, loud_part, play, publish, read_wav, resample, sandbox, token)

QUESTION = "Hello, what are your opening hours today?"
ANSWER = "We are open from nine in the morning until six in the evening."
AGENT = "agent-sandbox"


class User:
    def __init__(self):
        self.room = rtc.Room()
        self.streams, self.legacy, self.states, self.heard = [], [], [], None
        self.room.register_text_stream_handler("lk.transcription", lambda *a: asyncio.ensure_future(self._read(*a)))
        self.room.on("transcription_received", lambda segments, *_: self.legacy.extend(segments))
        self.room.on("participant_attributes_changed", lambda changed, _: self.states.append(changed["lk.agent.state"]))
        self.room.on("track_subscribed", self._subscribed)

    def _subscribed(self, track, publication, participant):
        check(publication.name == "roomio_audio", "the agent's track has the name that agents give it")
        check(publication.source == rtc.TrackSource.SOURCE_MICROPHONE, "and is a microphone")
        check(participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT, "and its publisher is an agent")
        self.heard = Recorder(track)

    async def _read(self, reader, sender):
        chunks = [chunk async for chunk in reader]
        self.streams.append((sender, reader.info.attributes, chunks))

    def from_(self, sender):
        return [stream for stream in self.streams if stream[0] == sender]


async def talk(url, single):
    print(f"-- {'one peer connection' if single else 'two peer connections'}", flush=True)
    user = User()
    room = f"interop-scripted-{single}"
    await user.room.connect(url, token("user", room), rtc.RoomOptions(single_peer_connection=single))
    local = user.room.local_participant
    source = await publish(user.room)
    await eventually(lambda: user.heard is not None, "the agent comes and is heard")
    await eventually(lambda: user.states[-1:] == ["listening"], "it listens")

    samples, rate = read_wav(ROOT / "config" / "demo" / "hello.wav")
    speech = resample(samples, rate).astype(np.int16)
    await play(source, np.concatenate([speech, np.zeros(RATE, np.int16)]))
    await eventually(lambda: user.from_(AGENT), "it answers", 15)
    await eventually(lambda: user.states[-1] == "listening", "and listens again")
    check(user.states == ["listening", "thinking", "speaking", "listening"], f"through its states: {user.states}")

    mine = user.from_("user")
    check(len(mine) > 3, f"what the user says grows ({len(mine)} updates)")
    check(len({attributes["lk.segment_id"] for _, attributes, _ in mine}) == 1, "as one segment")
    finals = [attributes["lk.transcription_final"] for _, attributes, _ in mine]
    # Streams are read side by side, so only the wire knows that the final one came last.
    check(finals.count("true") == 1 and finals.count("false") == len(mine) - 1, "of which one is final")
    check("".join(mine[-1][2]) == QUESTION, "the words of the user are those of the script")
    (_, attributes, chunks), = user.from_(AGENT)
    check("".join(chunks) == ANSWER and len(chunks) == len(ANSWER.split()), "the agent's come word by word")
    check(attributes["lk.transcription_final"] == "true", "and end final")
    check(user.legacy[-1].final and user.legacy[-1].text == ANSWER, "the legacy packets say the same")
    seconds = len(loud_part(user.heard.samples)) / RATE
    check(2 < seconds < 6, f"the answer is spoken ({seconds:.1f} s)")

    @local.register_rpc_method("where")
    async def _(call):
        return "here: " + call.payload

    check(await local.perform_rpc(destination_identity=AGENT, method="echo", payload="ž🐎") == "ž🐎", "it serves RPC")
    answer = await local.perform_rpc(destination_identity=AGENT, method="call", payload="where")
    check(answer == "here: ping", "and calls back")
    await local.send_text("Thank you, goodbye.", topic="lk.chat")
    await eventually(lambda: len(user.from_(AGENT)) == 2, "it answers a chat message", 15)
    check("".join(user.from_(AGENT)[1][2]) == "You are welcome. Goodbye!", "with the words of that turn")
    await user.room.disconnect()


async def main():
    with sandbox() as url:
        for single in (True, False):
            await talk(url, single)


asyncio.run(main())
