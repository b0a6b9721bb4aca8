"""Command lines beside the scripts that start them with torch's launchers, mpirun or srun.

What takes their place is mostly horovodrun. In a Slurm allocation it is `hvdkit run`, as horovodrun takes no
hosts from Slurm, and where torchrun would start a job again. In a job of LSF horovodrun takes the hosts.

Shell scripts, batch files, Makefiles and READMEs are read and never edited: what a line means to its cluster
is not ours to know. So are the commands that Python files run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.files import is_inside, read_text
from hvdkit.migrate.facts.code.commands import launch_commands
from hvdkit.migrate.write.apply import root_of
from hvdkit.printable import one_line
from hvdkit.source.edits import address
from hvdkit.source.index.names import Names
from hvdkit.source.project.texts import files_in

SUFFIXES = (".sh", ".bash", ".sbatch", ".slurm", ".pbs", ".mk", ".md", ".rst")
NAMES = ("Makefile", "makefile", "GNUmakefile", "README")
MAX_BYTES = 1_000_000

TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
LAUNCHER = re.compile(
    r"(?:\S*/)?torchrun(?=\s)"
    r"|(?P<mpi>(?:\S*/)?mpi(?:run|exec)(?=\s))"
    r"|(?P<python>(?:\S*/)?\$?\{?python[\d.]*\}?)(?P<flags>(?:\s+-[uOB])*)\s+-m\s+torch\.distributed\.(?:launch|run)(?=\s)"
)
WORDS = ("torchrun", "torch.distributed", "mpirun", "mpiexec")  # one of which stands in each of those
# srun in front of python itself, or of another launcher.
SRUN = re.compile(r"(?<!\w)(?:\S*/)?srun(?=\s)")
PYTHON = re.compile(r"(?:\S*/)?\$?\{?python[\d.]*\}?")
SETTING = re.compile(r"""(?:[A-Za-z_]\w*=(?:[^\s"']|"[^"]*"|'[^']*')*\s+)+$""")
# Options of the launcher that stand alone; all others take a value.
ALONE = frozenset(("standalone", "use_env", "no_python", "module", "m", "h", "help"))
# mpirun's options that horovodrun has, and how many values those have that it can do without.
MPI_OPTIONS = {"n": "-np", "np": "-np", "H": "-H", "host": "-H", "hostfile": "--hostfile"}
# srun's options that say how many processes there are; of the others, the short ones that take a value.
SRUN_COUNTS = {
    "n": "ntasks",
    "ntasks": "ntasks",
    "N": "nodes",
    "nodes": "nodes",
    "ntasks-per-node": "per_host",
}
SRUN_VALUES = frozenset("AcCdDeGiJmoOpqtwx")
SRUN_ALONE = frozenset(("l", "u", "v", "K", "label", "unbuffered", "exclusive", "overlap", "exact"))
MPI_NOT_NEEDED = {"allow-run-as-root": 0, "oversubscribe": 0, "x": 1}


@dataclass(frozen=True)
class LaunchLine:
    """One command line that starts a script, and what to write instead. line: in its file, or its cell."""

    path: Path
    line: int
    command: str
    instead: str
    cell: int = 0

    def __str__(self) -> str:
        place = address(one_line(os.path.relpath(self.path)), self.line, self.cell)
        return f"{place}: `{self.command}` becomes `{self.instead}`"


def launch_lines(paths: Sequence[Path], scripts: Iterable[Path]) -> list[LaunchLine]:
    """Lines in files beside or below the paths that start one of the scripts by torch or mpirun.

    What a link leads to outside of the project is not read: its lines would be copied into the report.
    """
    return lines_with(paths, scripts, _changed)


def lines_with(
    paths: Sequence[Path],
    scripts: Iterable[Path],
    changed: Callable[[str, set[str]], Iterator[tuple[str, str]]],
) -> list[LaunchLine]:
    """As `launch_lines`. changed: the commands in a line for some scripts, and what to write instead."""
    started, root = list(scripts), root_of(paths)
    found: list[LaunchLine] = []
    for file in files_in(paths):
        if file.suffix not in SUFFIXES and file.name not in NAMES:
            continue
        if not is_inside(file, root):
            continue
        try:
            text = read_text(file, MAX_BYTES)
            found += _in_text(file, text, _meant_beside(file, started), changed)
        except OSError:
            continue  # a file that cannot be read says nothing, and it is not one that is migrated
    return found


def launch_calls(files: Iterable[Names], scripts: Iterable[Path]) -> list[LaunchLine]:
    """Commands in Python files that start one of the scripts with a launcher of torch's."""
    known = {script.name for script in scripts}
    return [
        LaunchLine(names.source.path, line, command, instead, cell)
        for names in files
        for node, text in launch_commands(names)
        for cell, line in (names.source.cell_line(node.lineno),)
        for command, instead in _changed(" ".join(text.split()), known)
    ]


def _meant_beside(file: Path, scripts: Iterable[Path]) -> set[str]:
    """The names of scripts, without those that another script has which lies beside a file."""
    beside = [(script, file.parent / script.name) for script in scripts]
    return {script.name for script, other in beside if not other.exists() or other.samefile(script)}


def _in_text(
    path: Path, text: str, known: set[str], changed: Callable[[str, set[str]], Iterator[tuple[str, str]]]
) -> Iterator[LaunchLine]:
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        first, line = number, lines[number]
        while line.rstrip().endswith("\\") and number + 1 < len(lines):
            number += 1
            line = line.rstrip()[:-1].rstrip() + " " + lines[number].strip()
        number += 1
        if line.lstrip().startswith("#") and path.suffix not in (".md", ".rst"):
            continue
        for command, instead in changed(line, known):
            yield LaunchLine(path, first + 1, command, instead)


def _changed(line: str, known: set[str]) -> Iterator[tuple[str, str]]:
    """The launcher's command in a line, if there is one for a known script, and what to write instead."""
    match = LAUNCHER.search(line) if any(word in line for word in WORDS) else None
    instead = None
    if match is None:
        match = SRUN.search(line)
        instead = instead_of_srun(line[match.end() :], known) if match is not None else None
    elif match.group("mpi"):
        instead = instead_of_mpirun(line[match.end() :], known)
    else:
        within = SRUN.search(line[: match.start()])
        instead = horovodrun(line[match.end() :], match.group("flags") or "", known, within is not None)
        match = within or match  # srun would start `hvdkit run` once for each task
    if match is not None and instead is not None:
        setting = SETTING.search(line[: match.start()])
        before = setting.group() if setting else ""
        command = re.split(r"[`|;&>]", line[match.start() :])[0].strip()
        yield before + command, before + instead


def instead_of_mpirun(arguments: str, known: set[str]) -> str | None:
    """The horovodrun line for mpirun's arguments; None for another script's, or with other options."""
    tokens = TOKEN.findall(re.split(r"[`|;&>]", arguments)[0])
    found: list[str] = []
    while tokens and tokens[0].startswith("-"):
        name = tokens.pop(0).lstrip("-")
        if name in MPI_NOT_NEEDED:
            tokens = tokens[MPI_NOT_NEEDED[name] :]
        elif name in MPI_OPTIONS and tokens:
            found += [MPI_OPTIONS[name], tokens.pop(0)]
        else:
            return None
    started = any(starts(token, False, known) for token in tokens)
    return " ".join(["horovodrun", *found, *tokens]) if started and "-np" in found else None


def instead_of_srun(arguments: str, known: set[str]) -> str | None:
    """The line for srun's arguments; None where it starts no known script, or something around it.

    What srun is not told it takes from the job, and so does `hvdkit run`.
    """
    tokens = TOKEN.findall(re.split(r"[`|;&>]", arguments)[0])
    counts: dict[str, str] = {}
    while tokens and tokens[0].startswith("-"):
        option = tokens.pop(0)
        name, equals, value = option.lstrip("-").partition("=")
        if not option.startswith("--") and len(name) > 1:
            name, equals, value = name[0], "=", name[1:]
        if name not in SRUN_ALONE and not equals:
            if len(name) == 1 and name not in SRUN_VALUES and name not in SRUN_COUNTS:
                return None
            value = tokens.pop(0) if tokens else ""
        if name in SRUN_COUNTS:
            counts[SRUN_COUNTS[name]] = value
    if not tokens or PYTHON.fullmatch(tokens[0]) is None:
        return None
    script = next((token for token in tokens[1:] if not token.startswith("-")), "")
    if not starts(script, False, known):
        return None
    per_host = counts.get("per_host", "$SLURM_NTASKS_PER_NODE")
    processes = counts.get("ntasks") or (
        _product(counts["nodes"], per_host) if len(counts) > 1 else "$SLURM_NTASKS"
    )
    return " ".join(["hvdkit", "run", "-np", processes, *tokens])


def horovodrun(arguments: str, flags: str, known: set[str], allocated: bool = False) -> str | None:
    """The line for a launcher's arguments; None when they start none of the known scripts.

    allocated: srun stands before it, in an allocation that names the hosts.
    """
    tokens = TOKEN.findall(re.split(r"[`|;&>]", arguments)[0])
    options: dict[str, str] = {}
    module = False
    while tokens and tokens[0].startswith("-"):
        name, equals, value = tokens.pop(0).lstrip("-").partition("=")
        name = name.replace("-", "_")
        module = module or name in ("m", "module")
        if name not in ALONE and not equals:
            value = tokens.pop(0) if tokens else ""
        options[name] = value
    if not tokens or not starts(tokens[0], module, known):
        return None
    per_host = options.get("nproc_per_node", "1")
    if per_host in ("gpu", "auto", "cpu"):
        per_host = "GPUS_PER_HOST"
    fewest, _, most = options.get("nnodes", options.get("nnode", "1")).partition(":")
    program = ["python", *flags.split(), *(["-m"] if module else []), *tokens]
    again = options.get("max_restarts", "0")
    start = ["horovodrun"] if again == "0" and not allocated else ["hvdkit run"]
    hosts = fewest
    if again != "0":
        start += ["--restarts", again]
        if most and most != fewest:
            hosts = most
            start += ["--min-np", _product(fewest, per_host)]
    named = [] if allocated else _hosts(hosts, per_host)
    return " ".join([*start, "-np", _product(hosts, per_host), *named, *program])


def starts(token: str, module: bool, known: set[str]) -> bool:
    """Whether a launcher's program is one of the scripts; `${1:-train.py}` has its name in it."""
    name = token.rpartition(".")[2] + ".py" if module else token.strip("\"'").rpartition("/")[2]
    return any(name == script or re.search(rf"\b{re.escape(script)}\b", name) for script in known)


def _product(hosts: str, per_host: str) -> str:
    if hosts == "1":
        return per_host
    if hosts.isdigit() and per_host.isdigit():
        return str(int(hosts) * int(per_host))
    return f"$(({hosts} * {per_host}))" if "$" in hosts + per_host else f"{hosts}*{per_host}"


def _hosts(hosts: str, per_host: str) -> list[str]:
    if hosts == "1":
        return []
    count = int(hosts) if hosts.isdigit() and int(hosts) <= 4 else 1
    named = [f"HOST{number}:{per_host}" for number in range(1, count + 1)]
    return ["-H", ",".join(named if count > 1 else [*named, "..."])]
