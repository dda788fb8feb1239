"""An agent written with the official Python SDK calls the tools that `agentctl talk --tools` serves: results come back,
and each failure has the code that LiveKit's clients know.
"""

import asyncio
import json
import os
import subprocess
import tempfile

from livekit import rtc

from harness import KEY, ROOT, SECRET, binary, check, eventually, events, sandbox, token

ROOM = "interop-tools"
TOOLS = """
tools:
  - name: get_location
    reply: {latitude: 52.52, longitude: 13.405}
  - name: count_words
    parameters: {type: object, properties: {text: {type: string}}, required: [text]}
    command: [wc, -w]
  - name: slow
    command: [sleep, "30"]
    timeout: 1s
  - name: broken
    shell: echo the database is away >&2; exit 1
"""


async def failure(room, method, payload="{}"):
    try:
        await room.local_participant.perform_rpc(destination_identity="user", method=method, payload=payload)
    except rtc.RpcError as error:
        return error.code, error.message
    return None


async def main():
    with sandbox("--no-agent") as url, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(TOOLS)
        file.flush()
        process = await asyncio.create_subprocess_exec(
            binary(), "talk", "--json", "--silence", "--url", url, "--room", ROOM, "--identity", "user", "--tools",
            file.name, stdin=subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET})
        room = rtc.Room()
        await room.connect(url, token("agent-python", ROOM, kind="agent"))
        await eventually(lambda: "user" in room.remote_participants, "the user is in the room")
        perform = room.local_participant.perform_rpc
        answer = await perform(destination_identity="user", method="get_location", payload="")
        check(json.loads(answer) == {"latitude": 52.52, "longitude": 13.405}, f"a fixed answer: {answer}")
        answers = await asyncio.gather(
            *(perform(destination_identity="user", method="count_words", payload=json.dumps({"text": "a " * n}))
              for n in range(3)))
        check(answers == [str(len(json.dumps({"text": "a " * n}).split())) for n in range(3)],
              f"a command reads the parameters and answers: {answers}")
        code, message = await failure(room, "count_words", "{}")
        check(code == 1500 and "$.text is missing" in message, f"parameters that do not fit: {code} {message}")
        code, message = await failure(room, "broken")
        check(code == 1500 and "the database is away" in message, f"a command that fails: {code} {message}")
        check((await failure(room, "slow"))[0] == 1502, "a command that takes too long: 1502")
        check((await failure(room, "no_such_tool"))[0] == 1400, "a tool that is not there: 1400")
        process.terminate()
        text, _ = await asyncio.wait_for(process.communicate(), 20)
        seen = events(text.decode())
        calls = [event for event in seen if event["type"] == "tool_called"]
        ends = [event for event in seen if event["type"] == "tool_answered"]
        check(len(calls) == 7 and len(ends) == len(calls), f"each call is an event, and its end: {len(calls)}")
        check(calls[0]["caller"] == "agent-python" and calls[0]["tool"] == "get_location", "with caller and tool")
        check(sorted(e["error"]["code"] for e in ends if "error" in e) == [1500, 1500, 1502], "and errors with codes")
        await room.disconnect()


asyncio.run(main())
