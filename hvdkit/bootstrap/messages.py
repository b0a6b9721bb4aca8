"""What members of a job say to its control port: how it is sent and proven, and what a message may hold."""

from __future__ import annotations

import http.client
import json
import os
from typing import Any

from hvdkit.bootstrap.secret import Secret

# What a member says to the job, and hears; JSON objects.
Message = dict[str, Any]

REQUEST_SECONDS = 3.0
PATH = "/hvdkit"
MOST_BYTES = 1 << 20  # of one message; an address of Gloo has some hundred
JOB, CHALLENGE, PROOF = "Hvdkit-Job", "Hvdkit-Challenge", "Hvdkit-Proof"
_LONGEST_TEXT = 2000
_AGAIN = 2  # a challenge that has changed since is asked for once more


class OtherJobError(OSError):
    """Somebody answers on the control port, and it is not this job."""


class SecretError(OtherJobError):
    """The job answers, and does not take this process for a member."""


class MalformedError(ValueError):
    """A message that no member sends."""


class Line:
    """A member's way to the control port of its job. One thread at a time."""

    def __init__(self, address: str, port: int, job: str, secret: Secret) -> None:
        self.address = address
        self.port = port
        self.job = job
        self.secret = secret
        self._session = os.urandom(16).hex()
        self._number = 0
        self._challenge = ""

    def ask(self, message: Message) -> Message:
        """Say something to the job, and return its answer.

        Raises:
            SecretError: it does not take this process for a member.
            OtherJobError: what listens there is not this job, or not hvdkit, or does not know its secret.
            OSError: nothing answered within `REQUEST_SECONDS`.
        """
        for _ in range(_AGAIN):
            self._challenge = self._challenge or self._fetched()
            self._number += 1
            counted = {**message, "session": self._session, "number": self._number}
            body = json.dumps(counted).encode()
            proof = self.secret.proof(self.job, self._challenge.encode(), body)
            headers = {JOB: self.job, CHALLENGE: self._challenge, PROOF: proof}
            status, heard, reply = self._request("POST", body, headers)
            if status == 409:
                raise OtherJobError("a different job answers there")
            if status == 401:
                if heard.get(CHALLENGE, "") != self._challenge:
                    self._challenge = heard.get(CHALLENGE, "")
                    continue
                raise SecretError(
                    "the job there has another secret" if self.secret else "it asks for a secret"
                )
            if status != 200:
                raise OtherJobError(f"what answers there is not hvdkit (status {status})")
            if not self.secret.proves(heard.get(PROOF, ""), self.job, proof.encode(), reply):
                raise OtherJobError("what answers there does not know the job's secret")
            return _parsed(reply)
        raise OtherJobError("what answers there changes its challenge with every request")

    def _fetched(self) -> str:
        status, heard, _ = self._request("GET", b"", {})
        challenge = heard.get(CHALLENGE, "")
        if status != 200 or not challenge:
            raise OtherJobError(f"what answers there is not hvdkit (status {status})")
        return challenge

    def _request(
        self, method: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection(self.address, self.port, timeout=REQUEST_SECONDS)
        try:
            connection.request(method, PATH, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read(MOST_BYTES)
        except http.client.HTTPException as error:
            raise OtherJobError(f"what answers there does not speak HTTP: {error!r}") from error
        finally:
            connection.close()


def _parsed(reply: bytes) -> Message:
    try:
        parsed = json.loads(reply)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise OtherJobError("what answers there is not hvdkit")
    return parsed


def text(message: Message, key: str) -> str:
    """A text of a message, which may be printed. Raises: MalformedError."""
    value = message.get(key)
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise MalformedError(f"its {key} is no text of one line")
    return value


def number(message: Message, key: str, least: int, most: int) -> int:
    """A number of a message. Raises: MalformedError."""
    value = message.get(key)
    if type(value) is not int or not least <= value <= most:
        raise MalformedError(f"its {key} is no number from {least} to {most}")
    return value


def flag(message: Message, key: str) -> bool:
    """A yes or no of a message. Raises: MalformedError."""
    value = message.get(key)
    if not isinstance(value, bool):
        raise MalformedError(f"its {key} is neither true nor false")
    return value


def part(message: Message, key: str) -> Message:
    """An object in a message. Raises: MalformedError."""
    value = message.get(key)
    if not isinstance(value, dict):
        raise MalformedError(f"its {key} is no object")
    return value
