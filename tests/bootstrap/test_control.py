"""The control port: one address, one job, no strangers, and no harm from what comes in."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import pytest
from horovod.runner.common.util.hosts import HostInfo, get_host_assignments

from hvdkit.bootstrap.control import ControlServer, Message, OtherJobError, ask, listen
from hvdkit.bootstrap.errors import MeetingError

HERE = "127.0.0.1"


def echo(message: Message, address: str) -> Message:
    return {"heard": message["text"], "from": address}


@pytest.fixture
def server() -> Iterator[ControlServer]:
    running = listen(HERE, 0, "job", echo, said_by="MASTER_ADDR", port_from="ctrl_port")
    running.start()
    yield running
    running.stop()


def request(server: ControlServer, method: str, path: str, body: bytes = b"", **headers: str) -> int:
    connection = http.client.HTTPConnection(HERE, server.server_port, timeout=10)
    connection.request(method, path, body, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_member_is_answered(server: ControlServer) -> None:
    assert ask(HERE, server.server_port, {"job": "job", "text": "hello"}) == {"heard": "hello", "from": HERE}


def test_another_job_is_told_apart(server: ControlServer) -> None:
    with pytest.raises(OtherJobError, match="a different job answers there"):
        ask(HERE, server.server_port, {"job": "other", "text": "hello"})


def test_another_program_is_told_apart() -> None:
    with socket.create_server((HERE, 0)) as other:
        with pytest.raises(OSError, match="timed out"):
            ask(HERE, other.getsockname()[1], {"job": "job"})


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
        ("POST", "/hvdkit", b"no json", {}, 400),
        ("POST", "/hvdkit", b"[]", {}, 400),
        ("POST", "/elsewhere", b"{}", {}, 400),
        ("POST", "/hvdkit", b"", {"Content-Length": "99999999"}, 400),
        ("POST", "/hvdkit", b"", {"Content-Length": "-1"}, 400),
        ("PUT", "/global/0", b"", {"Content-Length": "99999999"}, 403),
        ("GET", "/a/b/c/d", b"", {}, 403),
    ],
)
def test_nonsense_is_refused_and_the_port_lives_on(
    server: ControlServer, method: str, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    server.members = frozenset({HERE})
    assert request(server, method, path, body, **headers) == status
    assert ask(HERE, server.server_port, {"job": "job", "text": "still here"})["heard"] == "still here"


def test_a_port_in_use_is_named(server: ControlServer) -> None:
    with pytest.raises(MeetingError) as caught:
        listen(HERE, server.server_port, "job", echo, said_by="MASTER_ADDR", port_from="ctrl_port")
    assert caught.value.seen == f"the control port {HERE}:{server.server_port} is in use on this host"


def test_an_address_of_another_host_is_named() -> None:
    with pytest.raises(MeetingError) as caught:
        listen("192.0.2.1", 9, "job", echo, said_by="MASTER_ADDR=b", port_from="ctrl_port")
    assert caught.value.seen.startswith("MASTER_ADDR=b is 192.0.2.1, which is not an address of this host")


def test_a_stopped_port_is_free_again(server: ControlServer) -> None:
    port = server.server_port
    ask(HERE, port, {"job": "job", "text": "hello"})
    server.stop()
    server.stop()
    listen(HERE, port, "job", echo, said_by="MASTER_ADDR", port_from="ctrl_port").server_close()
