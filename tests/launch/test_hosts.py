"""Host lists in every form, and what is refused because a shell would act on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvdkit.errors import UsageError
from hvdkit.hosts.lists import Host, HostError, enough, parse_hosts, read_hostfile, read_nodes


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("a:2,b:2", "a:2,b:2"),
        ("10.0.0.1:4", "10.0.0.1:4"),
        ("a, b:3", "a:1,b:3"),
        ("a,a,b", "a:2,b:1"),
        ("node_1.rack-2:1", "node_1.rack-2:1"),
    ],
)
def test_hosts(text: str, argument: str) -> None:
    assert parse_hosts(text).argument == argument


BAD_NAMES = [
    "a;reboot", "a$(id)", "`id`", "a|b", "a&b", "a b", "a'b", 'a"b', "-oProxyCommand=id", "a\\b", "a>b",
    "a\nb", "${HOME}", "a*", "../a", "", "a-", "fe80::1",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_a_shell_would_act_on_is_refused_everywhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(HostError):
        parse_hosts(f"{name}:2")
    if name.strip() and "\n" not in name:
        hostfile = tmp_path / "hosts"
        hostfile.write_text(f"ok slots=1\n{name} slots=2\n")
        with pytest.raises(HostError):
            read_hostfile(hostfile)
    nodes = tmp_path / "nodes.toml"
    nodes.write_text(f'nodes = [{{addr = """{name}"""}}]'.replace("\\", "\\\\"))
    with pytest.raises(HostError):
        read_nodes(nodes)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a:0", "number of ranks"),
        ("a:x", "number of ranks"),
        ("a:6006:1", "--ssh-port"),
        ("me@a:1", "~/.ssh/config"),
        ("localhost:2,b:2", "the others know this machine"),
        ("localhost:1,127.0.0.1:1,b:2", "the others know this machine"),
        ("localhost:1,127.0.0.2:1", "the others know this machine"),
    ],
)
def test_the_error_says_what_to_write(text: str, part: str) -> None:
    with pytest.raises(HostError, match=part):
        parse_hosts(text)


def test_this_machine_as_two_hosts(tmp_path: Path) -> None:
    text = "localhost:1,127.0.0.1:1"
    assert parse_hosts(text).argument == text
    (tmp_path / "hosts").write_text("localhost slots=1\n127.0.0.1 slots=1\n")
    assert read_hostfile(tmp_path / "hosts").argument == text


def test_hostfile_forms(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# the cluster\n\na slots=2\nb slots=2 max_slots=4  # Open MPI\nc:3\nd\n")
    assert read_hostfile(file).argument == "a:2,b:2,c:3,d:1"


@pytest.mark.parametrize("text", ["", "# nothing\n", "a cpus=2\n", "a slots=two\n"])
def test_a_bad_hostfile_names_the_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises(HostError, match=str(file)):
        read_hostfile(file)


def test_a_missing_or_binary_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="No such file"):
        read_hostfile(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HostError, match="UTF-8"):
        read_nodes(tmp_path / "binary")


def test_nodes(tmp_path: Path) -> None:
    file = tmp_path / "nodes.toml"
    file.write_text(
        'gpus_per_node = 2\nctrl_port = 9988\nnodes = [{addr = "10.0.0.2"}, {addr = "10.0.0.1"}]\n'
    )
    found = read_nodes(file)
    assert (found.argument, found.ctrl_port) == ("10.0.0.2:2,10.0.0.1:2", 9988)


@pytest.mark.parametrize(
    "text", ["nodes = 3", "x = [", "ctrl_port = 70000\nnodes = [{addr = 'a'}]", "nodes = [{}]"]
)
def test_bad_nodes(text: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes.toml"
    file.write_text(text)
    with pytest.raises(HostError, match=str(file)):
        read_nodes(file)


def test_a_node_may_have_ranks_of_its_own_number(tmp_path: Path) -> None:
    file = tmp_path / "nodes.toml"
    file.write_text(
        'gpus_per_node = 2\nnodes = [{addr = "a"}, {addr = "b", gpus_per_node = 4}, {addr = "c"}]\n'
    )
    assert read_nodes(file).argument == "a:2,b:4,c:2"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("nodes = [{addr = 'a', gpus = 2}]", "'gpus' is not a setting of a node"),
        ("nodes = [{addr = 'a', gpu_per_node = 4}]", "did you mean gpus_per_node?"),
        ("nodes = [{adr = 'a'}]", "did you mean addr?"),
        ("node = [{addr = 'a'}]", "did you mean nodes?"),
        ("nodes = [{addr = 'a'}]\nctrl_prot = 9988", "did you mean ctrl_port?"),
        ("nodes = [{addr = 'a'}]\nctrl_port = true", "ctrl_port = True is not a port"),
        ("nodes = [{addr = 'a'}]\nctrl_port = '9988'", "ctrl_port = '9988' is not a port"),
        ("nodes = [{addr = 'a'}]\ngpus_per_node = true", "gpus_per_node = True is not a number of ranks"),
        ("nodes = [{addr = 'a', gpus_per_node = '2'}]", "gpus_per_node = '2' is not a number of ranks"),
        ("nodes = [{addr = 'a', gpus_per_node = 0}]", "gpus_per_node = 0 is not"),
        ("nodes = [{addr = 'a', gpus_per_node = 99999999999}]", "gpus_per_node = 99999999999 is not"),
        ("nodes = [{addr = 7}]", "does not contain a node list"),
        ("nodes = ['a']", "does not contain a node list"),
        ("nodes = {addr = 'a'}", "does not contain a node list"),
        ("nodes = []", "names no host"),
        ("nodes = [{addr = '::1'}]", "::1 is an IPv6 address"),
        ("nodes = [{addr = '[fe80::1%eth0]'}]", "is an IPv6 address"),
        ("nodes = [{addr = 'a', gpus_per_node = 2}, {addr = 'a', gpus_per_node = 4}]", "a is listed twice"),
        ("x = " + "[" * 100_000, "TOML|nested too deeply"),
    ],
    ids=lambda text: text[:50],
)
def test_what_is_wrong_in_a_node_list_is_named(text: str, seen: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes.toml"
    file.write_text(text)
    with pytest.raises(HostError) as caught:
        read_nodes(file)
    assert re.search(seen, str(caught.value))


@pytest.mark.parametrize("text", ["fe80::1:2", "[::1]:2", "a:99999", "a:" + "9" * 5000, "a:0"])
def test_hosts_that_cannot_be(text: str) -> None:
    with pytest.raises(HostError, match=r"IPv6 address|not a number of ranks"):
        parse_hosts(text)


@pytest.mark.timeout(60)
def test_a_list_without_an_end_is_not_read() -> None:
    with pytest.raises(HostError, match="more than the"):
        read_nodes(Path("/dev/zero"))


def test_ranks_fill_hosts_in_order() -> None:
    assert enough(parse_hosts("a:2,b:2,c:2"), 3).hosts == (Host("a", 2), Host("b", 1))
    with pytest.raises(UsageError, match="has room for 2"):
        enough(parse_hosts("a:2"), 3)
