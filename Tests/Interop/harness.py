"""What the interoperability checks share: the sandbox as a child process, tokens, tones, and what audio holds."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import subprocess
import wave

import numpy as np
from livekit import api, rtc

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEY, SECRET = "devkey", "secret"
RATE = 48_000


def binary():
    """The agentctl that the build left: debug unless AGENTCTL names another."""
    path = pathlib.Path(os.environ.get("AGENTCTL", ROOT / ".build" / "debug" / "agentctl"))
    if not path.exists():
        raise SystemExit(f"{path} is not built: run `make build` first")
    return str(path)


@contextlib.contextmanager
def sandbox(*options):
    """Starts `agentctl sandbox` on a free port and yields its ws:// URL."""
    process = subprocess.Popen([binary(), "sandbox", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if match := re.search(r"ws://[\w.\[\]:]+", line):
                yield match.group(0)
                break
        else:
            raise SystemExit(f"the sandbox ended with {process.wait()} before it was ready")
    finally:
        process.terminate()
        try:
            status = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit("the sandbox did not stop within 10 s of SIGTERM")
    check(status in (0, 143), f"the sandbox ends cleanly on SIGTERM (got {status})")


def token(identity, room, kind="standard"):
    grants = api.VideoGrants(room_join=True, room=room, can_update_own_metadata=True, agent=kind == "agent")
    return api.AccessToken(KEY, SECRET).with_identity(identity).with_kind(kind).with_grants(grants).to_jwt()


def check(condition, what):
    """One assertion, printed: a run reads as the list of what holds."""
    print(("ok    " if condition else "FAILED ") + what, flush=True)
    if not condition:
        raise SystemExit(1)


async def eventually(condition, what, timeout=10.0):
    deadline = asyncio.get_running_loop().time() + timeout
    while asyncio.get_running_loop().time() < deadline:
        if condition():
            return check(True, what)
        await asyncio.sleep(0.02)
    check(False, f"{what} (within {timeout:g} s)")


def tone(frequency, seconds, rate=RATE, level=0.4):
    time = np.arange(int(seconds * rate)) / rate
    return (level * 32767 * np.sin(2 * np.pi * frequency * time)).astype(np.int16)


async def play(source, samples, rate=RATE):
    step = rate // 50
    for start in range(0, len(samples) - step + 1, step):
        frame = rtc.AudioFrame(samples[start : start + step].tobytes(), rate, 1, step)
        await source.capture_frame(frame)
    await source.wait_for_playout()


async def publish(room, name="microphone", rate=RATE):
    source = rtc.AudioSource(rate, 1)
    track = rtc.LocalAudioTrack.create_audio_track(name, source)
    await room.local_participant.publish_track(track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE))
    return source


class Recorder:
    """Everything that arrives on one remote track, as 48 kHz mono."""

    def __init__(self, track):
        self.chunks = []
        self.task = asyncio.ensure_future(self._run(track))

    async def _run(self, track):
        async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
            self.chunks.append(np.frombuffer(event.frame.data, dtype=np.int16).copy())

    @property
    def samples(self):
        return np.concatenate(self.chunks) if self.chunks else np.zeros(0, np.int16)


def loud_part(samples, threshold=300):
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > threshold)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


def dominant_frequency(samples, rate=RATE):
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return np.argmax(spectrum) * rate / len(samples)


def read_wav(path):
    with wave.open(str(path)) as file:
        check(file.getsampwidth() == 2, f"{pathlib.Path(path).name} is 16-bit PCM")
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)
        return samples.reshape(-1, file.getnchannels())[:, 0], file.getframerate()


def resample(samples, rate, target=RATE):
    """Band-limited, through the spectrum: the whole signal at once, for comparing and nothing else."""
    if rate == target:
        return samples.astype(np.float64)
    spectrum = np.fft.rfft(samples.astype(np.float64))
    length = round(len(samples) * target / rate)
    return np.fft.irfft(np.pad(spectrum, (0, max(0, length // 2 + 1 - len(spectrum)))), length) * (target / rate)


def events(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]
