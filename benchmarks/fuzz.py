"""Inputs that nobody wrote: programs, node lists, records, logs, control messages and folders, at random.

    python benchmarks/fuzz.py [--seed N] [--seconds S] [KIND=COUNT ...]
    python benchmarks/fuzz.py programs=10000 nodes=2000 records=2000 logs=2000 messages=2000 names=2000
    python benchmarks/fuzz.py trees=2000 kills=40

Each input goes through the code that a command gives it to. A finding is an exception that is not hvdkit's
own, an input that takes longer than its bound, or a file outside of the tree that changed; it is printed with
the seed and number that make it again. Exit code 1 if there is one. tests/test_fuzz.py runs a few of each.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import http.client
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fuzz_kills import Kills
from fuzz_trees import Trees

ROOT = Path(__file__).parents[1]
COUNTS = {
    "programs": 10_000,
    "nodes": 2_000,
    "records": 2_000,
    "logs": 2_000,
    "messages": 2_000,
    "names": 2_000,
    "trees": 2_000,
    "kills": 40,
}
# Seconds that one input may take of the processor's time, or of the clock's where it may wait for a FIFO.
# Programs run through every rule, several at a time.
BOUND = 60
WAITING = 5  # times as long by the clock: the machine is shared
TOGETHER = 5
_TOKENS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "=",
    "*",
    "**",
    "@",
    "->",
    ";",
    "\\",
    '"',
    "'''",
    "\t",
    "\n",
    "\r",
    "\x00",
    "\ufeff",
    "\u2028",
    "lambda",
    "yield",
    "await",
    "async",
    "match",
    "del",
]
_VALUES = (
    None,
    True,
    0,
    -1,
    1 << 70,
    1.5,
    "",
    "x" * 3000,
    "a\nb",
    "\x1b[2J",
    [],
    {},
    [[]],
    {"a": {}},
    "../../x",
    "/etc/x",
)
_NODES = (
    'nodes = [{addr = "10.0.0.1", gpus_per_node = 2}, {addr = "b"}]\ngpus_per_node = 4\nctrl_port = 9988\n'
)
_JSON = "[{(\"',:\\"


class TooSlow(BaseException):
    """An input took longer than its bound. Not an Exception: nothing on the way may catch it."""


@dataclass(frozen=True)
class Finding:
    """What should not be. kind, seed, number: they make the input again."""

    kind: str
    seed: int
    number: int
    said: str


def programs() -> list[str]:
    """Programs to begin with: the examples of the rules, and the scripts of this project."""
    places = [
        ROOT / "tests/migrate/examples",
        ROOT / "tests/check/examples",
        ROOT / "examples",
        ROOT / "benchmarks",
    ]
    files = [file for place in places for file in sorted(place.rglob("*.py"))]
    return [file.read_text(encoding="utf-8") for file in files if file.stat().st_size < 8000]


def mutated(text: str, chance: random.Random, others: Sequence[str], most: int = 4) -> str:
    """A text with a few pieces taken out, put in, doubled, moved, or taken from another one."""
    for _ in range(chance.randint(1, most)):
        lines = text.splitlines(keepends=True) or [""]
        place, line = chance.randrange(len(text) + 1), chance.randrange(len(lines))
        how = chance.randrange(8)
        if how == 0:
            text = text[:place] + text[place + chance.randint(1, 20) :]
        elif how == 1:
            text = text[:place] + chance.choice(_TOKENS) + text[place:]
        elif how == 2:
            text = "".join([*lines[:line], lines[line], *lines[line:]])
        elif how == 3:
            text = "".join([*lines[:line], *lines[line + 1 :]])
        elif how == 4:
            other = chance.choice(others).splitlines(keepends=True) or [""]
            start = chance.randrange(len(other))
            text = "".join([*lines[:line], *other[start : start + chance.randint(1, 12)], *lines[line:]])
        elif how == 5:
            indent = chance.choice(["if x:\n", "for i in y:\n", "def f(a):\n", "class A:\n", "try:\n"])
            text = indent + "".join(f"    {each}" for each in lines)
        elif how == 6:
            chance.shuffle(lines)
            text = "".join(lines)
        else:
            text = text.replace(
                chance.choice(["hvd", "dist", "torch", "model", "optimizer", "rank"]), chance.choice("xyz")
            )
    return text


@contextlib.contextmanager
def bounded(seconds: int) -> Iterator[None]:
    """Raises TooSlow in the block when it takes more of the processor's time than that, or waits."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    clocks = (
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, WAITING * seconds),
    )
    before = [signal.signal(number, stop) for number, _, _ in clocks]
    for _, clock, limit in clocks:
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for (number, clock, _), handler in zip(clocks, before):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)


class Fuzz:
    """One run over some inputs. scratch: an empty folder."""

    def __init__(self, seed: int, scratch: Path) -> None:
        self.seed = seed
        self.tree = scratch / "tree"
        self.tree.mkdir()
        self.outside = scratch / "outside.txt"
        self.outside.write_text("theirs\n", encoding="utf-8")
        self.programs = programs()
        self.attacks: dict[str, Trees | Kills] = {"trees": Trees(scratch), "kills": Kills(scratch)}
        # The key that seals records is made here, not in the folder of who runs this.
        os.environ["XDG_STATE_HOME"] = str(scratch / "state")
        self.logs = [
            file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests/explain/logs").rglob("*.log"))
        ]

    def chance(self, kind: str, number: int) -> random.Random:
        return random.Random(f"{self.seed}/{kind}/{number}")

    def run(self, kind: str, count: int, until: float) -> tuple[int, list[Finding]]:
        """So many inputs of a kind, or as many as there is time for: how many, and what was found."""
        act: Callable[[int], None] = getattr(self, f"_{kind}")
        step = TOGETHER if kind == "programs" else 1
        found, done = [], 0
        for number in range(0, count, step):
            if time.monotonic() > until:
                break
            said = self._tried(act, number)
            done += step
            if said:
                found.append(Finding(kind, self.seed, number, said))
                print(f"{kind} {number} (--seed {self.seed}): {said}", flush=True)
        return done, found

    def _tried(self, act: Callable[[int], None], number: int) -> str:
        output = io.StringIO()
        try:
            with bounded(BOUND), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                act(number)
        except TooSlow:
            return f"more than {BOUND} s of the processor, or {WAITING * BOUND} s"
        except Exception:
            return traceback.format_exc(limit=-4)
        if "Traceback (most" in output.getvalue():
            return f"a traceback was printed: {output.getvalue()[-2000:]}"
        if self.outside.read_text(encoding="utf-8") != "theirs\n":
            return "a file outside of the tree was written"
        return ""

    def _programs(self, number: int) -> None:
        from hvdkit.cli import main

        written = {}
        for offset in range(TOGETHER):
            chance = self.chance("programs", number + offset)
            text = mutated(chance.choice(self.programs), chance, self.programs)
            file = self.tree / f"p{offset}.py"
            file.write_bytes(text.encode("utf-8", "replace"))
            written[file] = file.read_bytes()
        for command in (["migrate", str(self.tree), "--write"], ["check", str(self.tree), "--fix"]):
            code = main([*command, "--suggested", "--allow-no-vcs"])
            assert code in (0, 1), f"{command[0]} ended with {code}"
            if any(file.read_bytes() != data for file, data in written.items()):
                assert main([command[0], "--undo", str(self.tree)]) == 0
            assert {file: file.read_bytes() for file in written} == written, "undo restores every byte"

    def _trees(self, number: int) -> None:
        self.attacks["trees"].attack(number, self.chance("trees", number))

    def _kills(self, number: int) -> None:
        self.attacks["kills"].attack(number, self.chance("kills", number))

    def _nodes(self, number: int) -> None:
        from hvdkit.errors import HvdkitError
        from hvdkit.hosts.lists import read_nodes

        chance = self.chance("nodes", number)
        text = mutated(_NODES, chance, [_NODES, *self.programs[:5]])
        for _ in range(chance.randint(0, 2)):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice(_JSON) * chance.choice([1, 3, 5000]) + text[place:]
        file = self.tree / "nodes.toml"
        file.write_bytes(text.encode("utf-8", "replace"))
        with contextlib.suppress(HvdkitError):
            assert read_nodes(file).slots > 0

    def _records(self, number: int) -> None:
        from hvdkit.cli import main
        from hvdkit.migrate.write.seal import sealed

        chance = self.chance("records", number)
        own = self.tree / "own.py"
        own.write_bytes(b"after\n")
        entry = {
            "path": "own.py",
            "before": base64.b64encode(b"before\n").decode(),
            "after_sha256": hashlib.sha256(b"after\n").hexdigest(),
        }
        entries = [dict(entry) for _ in range(chance.randint(1, 3))]
        for each in entries[: chance.randint(0, 3)]:
            key = chance.choice([*each, "mode"])
            value = chance.choice([*_VALUES, "../outside.txt", str(self.outside), "own.py/../../outside.txt"])
            each[key] = value  # type: ignore[assignment]
        # Half of them as if this user's own hvdkit had sealed them: what is below the seal is attacked, too.
        text = sealed(entries).decode() if chance.random() < 0.5 else json.dumps(entries)
        if chance.random() < 0.3:
            text = mutated(text, chance, [text])
        folder = self.tree / ".hvdkit"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("undo-*"):
            old.unlink()
        (folder / "undo-1.json").write_bytes(text.encode("utf-8", "replace"))
        code = main(["migrate", "--undo", str(self.tree)])
        assert code in (0, 2), code
        for old in folder.glob("undo-*"):
            old.unlink()

    def _logs(self, number: int) -> None:
        from hvdkit.explain import report
        from hvdkit.explain.log import parse
        from hvdkit.explain.verdict import judge

        chance = self.chance("logs", number)
        text = mutated(chance.choice(self.logs), chance, self.logs, most=8)
        for _ in range(chance.randint(0, 3)):
            place = chance.randrange(len(text) + 1)
            text = (
                text[:place]
                + chance.choice(["\x00", "\x1b[31m", "[1]<stderr>:", "9" * 5000, "a" * 9000])
                + text[place:]
            )
        verdict = judge(parse(text))
        report.text(verdict, "job.log")
        json.dumps(report.data(verdict))

    def _names(self, number: int) -> None:
        import fuzz_names

        chance = self.chance("names", number)
        folder = self.tree / "names"
        fuzz_names.one(
            folder,
            self.outside,
            chance,
            lambda: mutated(chance.choice(self.programs), chance, self.programs, most=1),
        )

    def _messages(self, number: int) -> None:
        from hvdkit.bootstrap.board import Board
        from hvdkit.bootstrap.control import listen
        from hvdkit.bootstrap.messages import CHALLENGE, JOB, PATH, PROOF, Line
        from hvdkit.bootstrap.secret import Secret
        from hvdkit.hosts.lists import Host

        if not hasattr(self, "server"):
            board = Board((Host("127.0.0.1", 1), Host("127.0.0.2", 1)), 1e9)
            self.server = listen("127.0.0.1", 0, "job", Secret(), board.answer, said_by="", port_from="")
            self.server.start()
        server, chance = self.server, self.chance("messages", number)
        message: dict[str, object] = {"node": 1, "who": "b", "done": False, "failure": None}
        message |= {"session": str(number), "number": 1}
        for _ in range(chance.randint(0, 3)):
            message[chance.choice([*message, "stop"])] = chance.choice(_VALUES)
        text = json.dumps(message)
        if chance.random() < 0.5:
            text = mutated(text, chance, [text])
        body = text.encode("utf-8", "replace")
        proof = server.secret.proof("job", server.challenge.encode(), body)
        headers = {JOB: "job", CHALLENGE: server.challenge, PROOF: proof}
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=BOUND)
        connection.request("POST", PATH, body, headers)
        status = connection.getresponse().status
        connection.close()
        assert status in (200, 400, 401), f"{status} for {text[:300]}"
        if number % 100 == 0:
            line = Line("127.0.0.1", server.server_port, "job", Secret())
            assert "go" in line.ask({"node": 0, "who": "a", "done": False, "failure": None})


def main(arguments: Sequence[str]) -> int:
    """Exit code: 1 if something was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="end after so long, whatever is left"
    )
    parser.add_argument("counts", nargs="*", metavar="KIND=COUNT")
    asked = parser.parse_args(arguments)
    counts = {kind: int(count) for kind, _, count in (each.partition("=") for each in asked.counts)} or COUNTS
    until, findings = time.monotonic() + asked.seconds, 0
    with tempfile.TemporaryDirectory() as scratch:
        fuzz = Fuzz(asked.seed, Path(scratch))
        for kind, count in counts.items():
            done, found = fuzz.run(kind, count, until)
            findings += len(found)
            print(f"{kind}: {done} of {count} inputs, {len(found)} finding(s)", flush=True)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
