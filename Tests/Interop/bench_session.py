"""The session of the benchmark, done with the official Python SDK: speak a WAV in real time, decode what comes, leave.

usage: bench_session.py URL TOKEN WAV
"""

import asyncio
import sys
import wave

from livekit import rtc

RATE = 48_000


async def hear(track):
    async for _ in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
        pass


async def main(url, token, path):
    room = rtc.Room()
    tasks = []
    room.on("track_subscribed", lambda track, *_: tasks.append(asyncio.ensure_future(hear(track))))
    await room.connect(url, token)
    source = rtc.AudioSource(RATE, 1)
    track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
    await room.local_participant.publish_track(track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE))
    with wave.open(path) as file:
        while samples := file.readframes(RATE // 50):
            await source.capture_frame(rtc.AudioFrame(samples, RATE, 1, len(samples) // 2))
    await source.wait_for_playout()
    await room.disconnect()


asyncio.run(main(*sys.argv[1:]))
