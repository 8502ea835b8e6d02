"""A real OpenID provider in a process of its own, and a way to it on which its answers can be changed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import rsa

from lab.services import free_port, wait_until
from tests.conftest import answers

Change = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Provider:
    """What tests ask of it, and what lies between it and us.

    `changes`: by path, what is made of the provider's answers. `claims`: what is made of its ID tokens, which are then
    signed with `key`, which the provider's keys show.
    """

    behind: str
    url: str = ""
    changes: dict[str, Change] = field(default_factory=dict)
    claims: Change | None = None
    sign: Callable[[dict[str, Any]], str] | None = None
    seen: list[str] = field(default_factory=list)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def is_ours_again(self) -> None:
        """Answer honestly from now on."""
        self.changes, self.claims, self.sign, self.seen = {}, None, None, []

    def knows(self, subject: str, **claims: object) -> None:
        """What the provider says about somebody from now on."""
        requests.put(f"{self.behind}/users/{subject}", json=claims, timeout=10).raise_for_status()

    def sign_in(self, address: str, subject: str) -> str:
        """Sign in on the provider's page; the address to which it sends the browser back."""
        sent = requests.post(address, data={"sub": subject}, allow_redirects=False, timeout=10)
        assert sent.status_code == 302, sent.text
        return str(sent.headers["Location"])

    def answer(self, path: str, said: dict[str, Any]) -> dict[str, Any]:
        self.seen.append(path)
        if path == "/oauth2/token" and "id_token" in said and (self.claims or self.sign):
            honest = jwt.decode(said["id_token"], options={"verify_signature": False})
            claims = (self.claims or dict)(honest)
            said["id_token"] = (self.sign or self.signed)(claims)
        if path == "/jwks" and (self.claims or self.sign):
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            said = {"keys": [public | {"kid": "between", "alg": "RS256", "use": "sig"}]}
        return self.changes.get(path, dict)(said)

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, "RS256", {"kid": "between"})


@contextmanager
def running_provider() -> Iterator[Provider]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce"],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    provider = Provider(f"http://127.0.0.1:{port}")
    between = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.url = f"http://127.0.0.1:{between.server_port}"
    thread = threading.Thread(target=between.serve_forever, daemon=True)
    thread.start()
    try:
        wait_until(lambda: answers(f"{provider.behind}/jwks"), "the provider runs")
        yield provider
    finally:
        between.shutdown()
        thread.join()
        between.server_close()
        process.terminate()
        process.wait(20)


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = requests.request(
                self.command,
                provider.behind + self.path,
                data=body,
                headers=dict(self.headers),  # with the host, after which the provider names itself
                allow_redirects=False,
                timeout=10,
            )
            content = said.content
            if said.headers.get("Content-Type", "").startswith("application/json"):
                content = json.dumps(provider.answer(self.path.partition("?")[0], said.json())).encode()
            self.send_response(said.status_code)
            for name in ("Content-Type", "Location"):
                if name in said.headers:
                    self.send_header(name, said.headers[name])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_args: object) -> None:
            pass

    return Handler
