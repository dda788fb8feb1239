"""agentctl speaks a WAV to an agent written with the official Python SDK, through the sandbox.

The agent keeps what it hears, which must be the WAV; it answers with a tone and a transcript, which agentctl must keep.
"""

import asyncio
import os
import pathlib
import sys
import tempfile

import numpy as np
from livekit import rtc

from harness import (
    KEY, RATE, ROOT, SECRET, Recorder, binary, check, dominant_frequency, eventually, events, loud_part, play, publish,
    read_wav, resample, sandbox, token, tone)

ROOM = "interop-agent"
WORDS = ["The", " tone", " is", " seven", " hundred", " hertz."]
INPUT = ROOT / "config" / "demo" / "hello.wav"


class Agent:
    def __init__(self):
        self.room = rtc.Room()
        self.heard = None
        self.room.on("track_subscribed", self._subscribed)

    def _subscribed(self, track, publication, participant):
        self.heard = Recorder(track)

    async def state(self, value):
        await self.room.local_participant.set_attributes({"lk.agent.state": value})

    async def run(self, url):
        await self.room.connect(url, token("agent-python", ROOM, kind="agent"))
        self.source = await publish(self.room, name="roomio_audio")
        await self.state("listening")
        await eventually(lambda: self.heard is not None, "the agent subscribes to the user's microphone", 20)
        await self._end_of_turn()
        await self.state("thinking")
        await asyncio.sleep(0.3)
        await self.state("speaking")
        await asyncio.gather(play(self.source, tone(700, 1.5)), self._transcribe())
        await self.state("listening")

    async def _transcribe(self):
        writer = await self.room.local_participant.stream_text(
            topic="lk.transcription",
            attributes={"lk.segment_id": "SG_python", "lk.transcription_final": "false"})
        for word in WORDS:
            await writer.write(word)
            await asyncio.sleep(0.1)
        await writer.aclose(attributes={"lk.transcription_final": "true"})

    async def _end_of_turn(self):
        """Waits for speech, then for 1 s of silence."""
        for _ in range(1500):
            await asyncio.sleep(0.02)
            samples = self.heard.samples
            if len(loud_part(samples)) > RATE and np.abs(samples[-RATE:].astype(np.int32)).max() < 300:
                return
        check(False, "the user's speech ends")


def compare(source, heard):
    """What the agent heard, against the file: whole, in place, and as faithful as Opus makes it."""
    size = 1 << int(np.ceil(np.log2(len(source) + len(heard))))
    correlation = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(source, size)), size)
    lag = int(np.argmax(correlation[: len(heard)]))
    aligned = heard[lag : lag + len(source)]
    check(len(aligned) == len(source), "nothing is missing at the end")

    window, lags, ratios = RATE // 5, [], []
    for start in range(0, len(source) - window, window):
        piece = source[start : start + window]
        if np.sqrt(np.mean(piece**2)) < 300:
            continue
        # The receiver may stretch or squeeze by some milliseconds (it adapts its jitter buffer): align each window.
        reach = RATE // 20
        around = heard[max(0, lag + start - reach) : lag + start + window + reach]
        local = np.correlate(around, piece, mode="valid")
        offset = int(np.argmax(local))
        lags.append(offset - min(reach, lag + start))
        match = around[offset : offset + window]
        gain = np.dot(match, piece) / np.dot(match, match)
        ratios.append(10 * np.log10(np.sum(piece**2) / np.sum((piece - gain * match) ** 2)))
    check(len(ratios) >= 6, f"the speech is there ({len(ratios)} windows of 200 ms)")
    check(max(lags) - min(lags) <= RATE * 0.06, f"no gap and no overlap (windows shift by {1000 * (max(lags) - min(lags)) / RATE:.1f} ms)")
    check(np.median(ratios) > 8, f"signal to noise fits Opus: median {np.median(ratios):.1f} dB, worst {min(ratios):.1f} dB")
    check(np.mean(np.array(ratios) > 3) > 0.85, "no window is lost or replaced by concealment")


async def main():
    with sandbox("--no-agent") as url, tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "reply.wav"
        agent = Agent()
        conversation = asyncio.ensure_future(agent.run(url))
        await asyncio.sleep(1)
        process = await asyncio.create_subprocess_exec(
            binary(), "talk", "--json", "--url", url, "--room", ROOM, "--identity", "user", "--bitrate", "48000",
            "--input", str(INPUT), "--output", str(output),
            env={**os.environ, "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET}, stdout=asyncio.subprocess.PIPE)
        text, _ = await asyncio.wait_for(process.communicate(), 90)
        await conversation
        check(process.returncode == 0, f"agentctl ends with 0 (got {process.returncode})")

        samples, rate = read_wav(INPUT)
        compare(resample(samples, rate), agent.heard.samples.astype(np.float64))

        reply, reply_rate = read_wav(output)
        part = loud_part(reply)
        check(1.3 * reply_rate < len(part) < 1.7 * reply_rate, f"the recording holds 1.5 s of tone ({len(part) / reply_rate:.2f} s)")
        check(abs(dominant_frequency(part, reply_rate) - 700) < 2, "at 700 Hz")

        log = events(text.decode())
        finals = [e for e in log if e["type"] == "transcript" and e["final"] and e["speaker"] == "agent"]
        check([e["text"] for e in finals] == ["".join(WORDS)], "the transcript is the agent's words, once")
        interim = [e for e in log if e["type"] == "transcript" and not e["final"]]
        check(len(interim) >= 2, "and it grew while it was spoken")
        await agent.room.disconnect()


asyncio.run(main())
sys.exit(0)
