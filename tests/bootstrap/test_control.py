"""The control port: one address, one job, no strangers, and no harm from what comes in."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from horovod.runner.common.util.hosts import HostInfo, get_host_assignments

from hvdkit.bootstrap import control, messages
from hvdkit.bootstrap.control import ControlServer, listen
from hvdkit.bootstrap.errors import MeetingError
from hvdkit.bootstrap.messages import CHALLENGE, JOB, PATH, PROOF, Line, Message, OtherJobError, SecretError
from hvdkit.bootstrap.secret import Secret

HERE = "127.0.0.1"
SECRET = Secret(b"what only members know")


def echo(message: Message, address: str) -> Message:
    return {"heard": messages.text(message, "text"), "from": address}


def serve(secret: Secret, port: int = 0) -> ControlServer:
    return listen(HERE, port, "job", secret, echo, said_by="MASTER_ADDR", port_from="ctrl_port")


@pytest.fixture(params=[SECRET, Secret()], ids=["with a secret", "without"])
def server(request: pytest.FixtureRequest) -> Iterator[ControlServer]:
    running = serve(request.param)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def guarded() -> Iterator[ControlServer]:
    """One with a secret."""
    running = serve(SECRET)
    running.start()
    yield running
    running.stop()


def member(server: ControlServer, job: str = "job", secret: Secret | None = None) -> Line:
    return Line(HERE, server.server_port, job, server.secret if secret is None else secret)


def request(server: ControlServer, method: str, path: str, body: bytes = b"", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(HERE, server.server_port, timeout=10)
    connection.request(method, path, body, named)
    status = connection.getresponse().status
    connection.close()
    return status


def recorded(server: ControlServer, text: str) -> tuple[bytes, dict[str, str]]:
    """A message of a member as it goes over the wire: what a stranger that listens in has."""
    line, seen = member(server), []
    sent = line._request

    def listening_in(method: str, body: bytes, headers: dict[str, str]) -> object:
        seen.append((body, headers))
        return sent(method, body, headers)

    line._request = listening_in  # type: ignore[method-assign,assignment]
    assert line.ask({"text": text})["heard"] == text
    return seen[-1]


def lives(server: ControlServer) -> None:
    assert member(server).ask({"text": "still here"})["heard"] == "still here"


def test_a_member_is_answered(server: ControlServer) -> None:
    line = member(server)
    assert line.ask({"text": "hello"}) == {"heard": "hello", "from": HERE}
    assert line.ask({"text": "again"})["heard"] == "again"


def test_another_job_is_told_apart(server: ControlServer) -> None:
    with pytest.raises(OtherJobError, match="a different job answers there"):
        member(server, "other").ask({"text": "hello"})


def test_another_program_is_told_apart() -> None:
    with socket.create_server((HERE, 0)) as other:
        with pytest.raises(OSError, match="timed out"):
            Line(HERE, other.getsockname()[1], "job", SECRET).ask({})


@pytest.mark.parametrize("secret", [Secret(), Secret(b"what somebody else knows")])
def test_who_does_not_know_the_secret_is_no_member(
    guarded: ControlServer, secret: Secret, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(5):
        with pytest.raises(SecretError, match="has another secret" if secret else "it asks for a secret"):
            member(guarded, secret=secret).ask({"text": "stop"})
    said = capfd.readouterr().err
    assert said.count("\n") == 1, "one line, however often"
    assert f"turned away: {HERE} does not know the job's secret" in said
    lives(guarded)


def test_what_a_member_said_is_not_taken_a_second_time(server: ControlServer) -> None:
    body, headers = recorded(server, "stop")
    named = {key.replace("-", "_"): value for key, value in headers.items()}
    assert request(server, "POST", PATH, body, **named) == 401
    lives(server)


def test_what_was_said_to_another_start_of_the_job_is_not_taken(guarded: ControlServer) -> None:
    body, headers = recorded(guarded, "stop")
    again = serve(SECRET)
    again.start()
    named = {key.replace("-", "_"): value for key, value in headers.items()}
    assert request(again, "POST", PATH, body, **named) == 401
    again.stop()


def test_a_message_that_was_changed_on_its_way_is_not_taken(guarded: ControlServer) -> None:
    line = member(guarded)
    sent = line._request
    line._request = lambda method, body, headers: sent(  # type: ignore[method-assign]
        method, body.replace(b"go", b"no"), headers
    )
    with pytest.raises(SecretError):
        line.ask({"text": "go"})


def test_a_member_goes_on_with_a_port_that_was_started_again(server: ControlServer) -> None:
    line = member(server)
    line.ask({"text": "one"})
    port, secret = server.server_port, server.secret
    server.stop()
    again = serve(secret, port)
    again.start()
    assert line.ask({"text": "two"})["heard"] == "two"
    again.stop()


def test_an_answer_of_a_stranger_is_not_believed(guarded: ControlServer) -> None:
    """It listens where node 0 should, and does not know the secret."""
    stranger = serve(Secret())
    stranger.start()
    stranger._challenge = "x"  # type: ignore[attr-defined]
    line = Line(HERE, stranger.server_port, "job", SECRET)
    with pytest.raises(OtherJobError):
        line.ask({"text": "go?"})
    line._request = lambda method, body, headers: (  # type: ignore[method-assign]
        200,
        http.client.HTTPMessage(),
        b'{"stop": "end"}',
    )
    with pytest.raises(OtherJobError, match="does not know the job's secret"):
        line.ask({"text": "go?"})
    stranger.stop()


def test_only_its_own_address_listens(server: ControlServer) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.server_port), timeout=10)


def test_horovods_store_is_closed_until_the_job_is_complete_and_then_open_to_members(
    server: ControlServer,
) -> None:
    assert request(server, "PUT", "/global/0", b"address") == 403
    slots = get_host_assignments([HostInfo("a", 1)], 1)
    server.admit(slots, frozenset({"10.0.0.1"}))
    assert request(server, "PUT", "/global/0", b"address") == 403, "this address is no member's"
    server.admit(slots, frozenset({HERE}))
    assert request(server, "PUT", "/global/0", b"address") == 200
    assert request(server, "GET", "/global/0") == 200
    assert request(server, "GET", "/global/1") == 404
    assert request(server, "DELETE", "/global/0") == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", PATH, b"no json", {}, 409),
        ("POST", PATH, b"{}", {"Hvdkit-Job": "job"}, 401),
        ("POST", "/elsewhere", b"{}", {}, 400),
        ("POST", PATH, b"", {"Content-Length": "99999999"}, 400),
        ("POST", PATH, b"", {"Content-Length": "-1"}, 400),
        ("POST", PATH, b"", {"Content-Length": "\u0663".encode().decode("latin-1")}, 400),
        ("PUT", "/global/0", b"", {"Content-Length": "99999999"}, 403),
        ("PUT", "/global/0", b"", {"Content-Length": "many"}, 403),
        ("GET", "/a/b/c/d", b"", {}, 403),
        ("GET", "/../../etc/passwd", b"", {}, 403),
        ("HEAD", "/pyproject.toml", b"", {}, 403),
        ("HEAD", "/", b"", {}, 403),
        ("BREW", "/coffee", b"", {}, 501),
    ],
)
def test_nonsense_is_refused_and_the_port_lives_on(
    server: ControlServer,
    method: str,
    path: str,
    body: bytes,
    headers: dict[str, str],
    status: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server.members = frozenset({HERE})
    assert request(server, method, path, body, **headers) == status
    said = capfd.readouterr().err
    assert said.startswith(f"hvdkit: control port {HERE}:") and said.count("\n") == 1
    lives(server)


@pytest.mark.parametrize(
    "message",
    [
        "no json",
        "[]",
        "3",
        "{}",
        "[" * 200_000,
        json.dumps({"text": "a\nb"}),
        json.dumps({"text": 3}),
        json.dumps({"text": "x" * 5000}),
    ],
    ids=lambda text: text[:20],
)
def test_a_member_that_says_what_none_says_is_answered(
    server: ControlServer, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As a stranger may where there is no secret."""
    if message.startswith("{"):
        message = json.dumps({**json.loads(message), "session": "s", "number": 1})
    body = message.encode()
    proof = server.secret.proof("job", server.challenge.encode(), body)
    connection = http.client.HTTPConnection(HERE, server.server_port, timeout=30)
    connection.request("POST", PATH, body, {JOB: "job", CHALLENGE: server.challenge, PROOF: proof})
    assert connection.getresponse().status == 400
    connection.close()
    said = capfd.readouterr().err
    assert "turned away" in said and said.count("\n") == 1
    lives(server)


def test_a_fault_of_its_own_is_one_line(guarded: ControlServer, capfd: pytest.CaptureFixture[str]) -> None:
    def broken(message: Message, address: str) -> Message:
        raise KeyError("node")

    guarded.answer = broken
    with pytest.raises(OSError):
        member(guarded).ask({"text": "x"})
    said = capfd.readouterr().err
    assert "could not be answered: KeyError: 'node'" in said and said.count("\n") == 1


def test_a_flood_of_connections_and_slow_senders_hold_nobody_up(
    server: ControlServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(control, "LONGEST_SECONDS", 2.0)
    monkeypatch.setattr(control, "MOST_FROM_ONE", 8)
    slow = [socket.create_connection((HERE, server.server_port), timeout=10) for _ in range(8)]
    done = threading.Event()

    def drip() -> None:
        while not done.wait(0.2):
            for each in slow:
                try:
                    each.send(b"X")
                except OSError:
                    return

    threading.Thread(target=drip, daemon=True).start()
    flood = [socket.create_connection((HERE, server.server_port), timeout=10) for _ in range(50)]
    assert [each.recv(100) for each in flood] == [b""] * 50, "closed at once"
    deadline = time.monotonic() + 60
    while True:
        try:
            lives(server)
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    done.set()
    for each in (*slow, *flood):
        each.close()
    said = capfd.readouterr().err
    assert "holds too many connections" in said and "sends too slowly" in said
    assert "Traceback" not in said


def test_a_thousand_reasons_are_twenty_lines(
    server: ControlServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(1000):
        server.turn_away(f"10.0.0.{number}", "asked\n\x1b[31m for much")
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 21
    assert said[-1].endswith("more was turned away; no line says so from here on")
    assert "\x1b" not in "".join(said)


def test_a_port_in_use_is_named(server: ControlServer) -> None:
    with pytest.raises(MeetingError) as caught:
        serve(SECRET, server.server_port)
    assert caught.value.seen == f"the control port {HERE}:{server.server_port} is in use on this host"


def test_an_address_of_another_host_is_named() -> None:
    with pytest.raises(MeetingError) as caught:
        listen("192.0.2.1", 9, "job", SECRET, echo, said_by="MASTER_ADDR=b", port_from="ctrl_port")
    assert caught.value.seen.startswith("MASTER_ADDR=b is 192.0.2.1, which is not an address of this host")


def test_a_stopped_port_is_free_again(server: ControlServer) -> None:
    port = server.server_port
    lives(server)
    server.stop()
    server.stop()
    serve(SECRET, port).server_close()
