"""agentctl reaches a server behind TLS and behind proxies named by the environment: signaling and tokens go through
them, certificates are checked, and what goes wrong is told in words.
"""

import asyncio
import os
import pathlib
import ssl
import subprocess
import tempfile

from harness import KEY, ROOT, SECRET, binary, check, sandbox

HELLO = str(ROOT / "config" / "demo" / "hello.wav")
NAME = "agents.example.test"


async def pump(reader, writer):
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def join(first, second):
    await asyncio.gather(pump(first[0], second[1]), pump(second[0], first[1]))


class Proxy:
    """An HTTP proxy that leads to this machine, whatever the name; it keeps the first line of each request."""

    def __init__(self, refuse=None):
        self.refuse = refuse
        self.requests = []

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.decode().split()
        self.requests.append(f"{method} {target}")
        if self.refuse:
            writer.write(f"HTTP/1.1 {self.refuse}\r\nContent-Length: 0\r\n\r\n".encode())
            return writer.close()
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            upstream = await asyncio.open_connection("127.0.0.1", int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            address, _, path = target.removeprefix("http://").partition("/")
            host, _, port = address.rpartition(":")
            upstream = await asyncio.open_connection("127.0.0.1", int(port))
            upstream[1].write(f"{method} /{path} {version}\r\n".encode() + rest)
        await join((reader, writer), upstream)


async def terminate_tls(folder, port):
    """TLS in front of a server: its port. The certificate is for NAME and signed by itself."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},DNS:localhost", "-keyout", key, "-out",
         certificate],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def serve(reader, writer):
        await join((reader, writer), await asyncio.open_connection("127.0.0.1", port))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    return server.sockets[0].getsockname()[1], certificate


async def talk(*arguments, **environment):
    process = await asyncio.create_subprocess_exec(
        binary(), "talk", "--input", HELLO, *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**{k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")},
             "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET, **environment})
    output, errors = await asyncio.wait_for(process.communicate(), 90)
    return process.returncode, output.decode(), errors.decode()


def answered(outcome, what):
    code, output, errors = outcome
    check(code == 0 and "We are open" in output, f"{what} (exit code {code}) {errors if code else ''}")


async def main():
    with sandbox() as url, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        port = int(url.rpartition(":")[2])
        secure, certificate = await terminate_tls(folder, port)

        answered(await talk("--url", f"wss://localhost:{secure}", "--ca-file", str(certificate)), "wss with its CA")
        answered(await talk("--url", f"wss://localhost:{secure}", "--insecure"), "wss with --insecure")
        code, _, errors = await talk("--url", f"wss://localhost:{secure}")
        check(code == 4, f"a certificate that nobody vouches for is refused (exit code {code})")
        check("certificate" in errors and "--ca-file" in errors, f"and the message says what to do: {errors.strip()}")
        code, _, errors = await talk("--url", f"wss://127.0.0.1:{secure}", "--ca-file", str(certificate))
        check(code == 4 and "certificate" in errors, f"so is one for another name: {errors.strip()}")

        proxy = Proxy()
        address = await proxy.start()
        answered(await talk("--url", f"ws://{NAME}:{port}", http_proxy=address), "ws through http_proxy")
        check(f"CONNECT {NAME}:{port}" in proxy.requests, f"as a tunnel: {proxy.requests}")

        proxy.requests.clear()
        answered(
            await talk("--url", f"wss://{NAME}:{secure}", "--ca-file", str(certificate), https_proxy=address),
            "wss through https_proxy, the certificate checked end to end")
        check(proxy.requests == [f"CONNECT {NAME}:{secure}"], f"as one tunnel: {proxy.requests}")

        proxy.requests.clear()
        code, _, errors = await talk(
            "--token-endpoint", f"http://{NAME}:{port}/token", "--url", url, http_proxy=address)
        check(code == 0, f"a token through the proxy (exit code {code}) {errors if code else ''}")
        check(any(f"{NAME}:{port}" in request for request in proxy.requests), f"{proxy.requests}")

        proxy.requests.clear()
        answered(await talk("--url", url, http_proxy=address, https_proxy=address), "this machine needs no proxy")
        check(proxy.requests == [], "and none is asked")
        code, _, errors = await talk("--url", f"ws://{NAME}:{port}", http_proxy=address, no_proxy=NAME)
        check(code == 4 and proxy.requests == [], f"no_proxy is honoured: {errors.strip()}")

        refusing = Proxy(refuse="403 Forbidden")
        code, _, errors = await talk("--url", f"ws://{NAME}:{port}", http_proxy=await refusing.start())
        check(code == 4 and "proxy" in errors, f"a proxy that refuses is named: {errors.strip()}")
        check(SECRET not in errors.split() and "eyJ" not in errors, "no secret and no token in the message")


asyncio.run(main())
