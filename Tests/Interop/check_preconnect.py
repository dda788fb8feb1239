"""agentctl captures from a microphone from its first moment; an agent written with the official Python SDK that comes
3 s later is given what was said before, as the byte stream that LiveKit's agents read, and hears the rest on the track.
"""

import asyncio
import os
import pathlib
import sys
import tempfile

import numpy as np
from livekit import rtc

from harness import KEY, RATE, ROOT, SECRET, Recorder, binary, check, eventually, events, read_wav, resample, sandbox, token

ROOM = "interop-preconnect"
TOPIC = "lk.agent.pre-connect-audio-buffer"


def devices(folder, samples):
    """A microphone that hears `samples` (48 kHz mono) and then silence, for a machine without one."""
    raw = folder / "speech.raw"
    raw.write_bytes(np.concatenate([samples, np.zeros(40 * RATE)]).astype(np.int16).tobytes())
    conf = folder / "asound.conf"
    conf.write_text(
        "</usr/share/alsa/alsa.conf>\n"
        f'pcm.speech {{ type file slave.pcm {{ type null }} file "/dev/null" infile "{raw}" format raw }}\n')
    return {"ALSA_CONFIG_PATH": str(conf)}


class Agent:
    def __init__(self):
        self.room = rtc.Room()
        self.buffer = self.info = self.heard = self.features = None
        self.room.register_byte_stream_handler(TOPIC, lambda reader, identity: asyncio.ensure_future(self._read(reader)))
        self.room.on("track_subscribed", self._subscribed)

    def _subscribed(self, track, publication, participant):
        self.heard = Recorder(track)

    async def _read(self, reader):
        self.info = reader.info
        content = bytearray()
        async for chunk in reader:
            content += chunk
        self.buffer = np.frombuffer(bytes(content), np.int16)


async def main():
    source, rate = read_wav(ROOT / "config" / "demo" / "hello.wav")
    speech = np.concatenate([resample(source, rate)] * 3)
    with sandbox("--no-agent") as url, tempfile.TemporaryDirectory() as name:
        process = await asyncio.create_subprocess_exec(
            binary(), "talk", "--json", "--url", url, "--room", ROOM, "--identity", "user", "--microphone", "speech",
            "--speaker", "none", "--duration", "5", "--no-echo-cancellation", "--no-noise-suppression",
            "--no-gain-control", "--no-high-pass", "--bitrate", "48000",
            env={**os.environ, **devices(pathlib.Path(name), speech), "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET},
            stdout=asyncio.subprocess.PIPE)
        await asyncio.sleep(3)
        agent = Agent()
        await agent.room.connect(url, token("agent-python", ROOM, kind="agent"))
        await eventually(lambda: agent.buffer is not None, "the agent is given the buffer, whole")
        text, _ = await asyncio.wait_for(process.communicate(), 60)
        check(process.returncode == 0, f"agentctl ends with 0 (got {process.returncode})")

        check(agent.info.attributes.get("sampleRate") == "24000", "it says 24 kHz")
        check(agent.info.attributes.get("channels") == "1", "mono")
        check(agent.info.attributes.get("trackId", "").startswith("TR_"), "and of which track it is")
        seconds = len(agent.buffer) / 24_000
        check(2.5 < seconds < 5, f"it holds what was said until the agent was there ({seconds:.2f} s)")
        # The signal at half the rate, sample by sample; the edges of the filter are not compared.
        expected = speech[: 2 * len(agent.buffer)].astype(np.float64)
        spectrum = np.fft.rfft(expected)
        expected = np.fft.irfft(spectrum[: len(agent.buffer) // 2 + 1], len(agent.buffer)) / 2
        piece = slice(2_400, len(agent.buffer) - 2_400)
        error = agent.buffer[piece] - expected[piece]
        ratio = 10 * np.log10(np.sum(expected[piece] ** 2) / np.sum(error**2))
        check(ratio > 30, f"it is what was said, in place from the first sample ({ratio:.1f} dB)")

        sent = [e for e in events(text.decode()) if e["type"] == "pre_connect_audio"]
        check(len(sent) == 1 and abs(sent[0]["audio_ms"] - 1000 * seconds) < 1, "agentctl says so too")
        heard = agent.heard.samples.astype(np.float64)
        rest = speech[2 * len(agent.buffer):].astype(np.float64)[: 2 * RATE]
        # The receiver stretches and squeezes a little: each 200 ms is looked for near its place.
        window, reach, likeness = RATE // 5, RATE // 4, []
        begin = int(np.argmax(np.abs(heard) > 600)) - int(np.argmax(np.abs(rest) > 600))
        for start in range(0, 6 * window, window):
            part = rest[start : start + window]
            around = heard[max(0, begin + start - reach) : begin + start + window + reach]
            if np.sqrt(np.mean(part**2)) < 300 or len(around) < window:
                continue
            local = np.correlate(around, part, mode="valid")
            match = around[int(np.argmax(local)) :][:window]
            likeness.append(np.max(local) / np.sqrt(np.sum(match**2) * np.sum(part**2)))
        check(abs(begin) < RATE // 2, f"the track is silent up to where the buffer ends ({1000 * begin / RATE:.0f} ms later here)")
        check(np.median(likeness) > 0.8, f"and goes on with what follows (likeness {np.median(likeness):.2f})")
        await agent.room.disconnect()


asyncio.run(main())
sys.exit(0)
