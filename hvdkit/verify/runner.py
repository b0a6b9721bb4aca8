"""Start one run under its launcher, watch it step, and end it with everything that it started."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import textwrap
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hvdkit import interpreter
from hvdkit.errors import HvdkitError
from hvdkit.hosts.lists import HostList
from hvdkit.launch.horovodrun import UNCHECKED, LauncherError
from hvdkit.observe.records import TO_END, RecordError, Run, read_run
from hvdkit.source.notebook import making
from hvdkit.verify import processes, shapes
from hvdkit.verify.detect import Launcher, Start, imports_own_package, warmed_framework
from hvdkit.verify.hook.beginning import BEGUN
from hvdkit.verify.hook.ending import ENDED
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.twins import launch
from hvdkit.verify.warm.pool import warm_python
from hvdkit.verify.workfolder import WorkFolder

SITE = Path(__file__).parent / "hook" / "site"
# Seconds for the other ranks once one has recorded its last step: they take part in that step already, so
# one that does not follow has run out of data.
FOLLOW = 30.0
# Seconds, at least, until every rank has imported its framework and made an optimizer: on a busy machine that
# takes minutes, in which no rank waits for another.
START = 600.0
# Seconds between asking a run to end and forcing it: by ssh, it takes longer to reach all ranks.
GRACE, REMOTE_GRACE = 3.0, 30.0
TAIL = 40  # lines of a failed script's output that are shown


class RunError(HvdkitError):
    """A script ended with an error before its steps were done; `seen` holds its own output.

    record: of what it did until then. work: the folder that it ran in.
    """

    record: Path | None = None
    work = Path()


class HangError(HvdkitError):
    """No rank took a step for longer than --timeout; `seen` holds where each one is."""


class NoStepError(HvdkitError):
    """A script ended without an optimizer step."""


@dataclass(frozen=True)
class Job:
    """One run to make. title: "original" or "migrated". script: as the run finds it in `work`; read: where it
    can be read now, also as the notebook that it is made of. python: the interpreter. folder: what the run
    leaves. hosts: where its ranks are placed, by launchers that place them. notebook: what the script was
    made of, if of one. others: more like `work`, where the script is run as twins."""

    title: str
    script: Path
    read: Path
    python: str
    arguments: tuple[str, ...]
    start: Start
    here: Path
    folder: Path
    work: WorkFolder
    settings: Settings
    controller: str
    timeout: float
    hosts: HostList
    notebook: Path | None = None
    others: tuple[WorkFolder, ...] = ()

    @property
    def named(self) -> str:
        """As messages name it: "the original script", "the script on 2 ranks"."""
        return f"the {self.title}" if self.title.startswith("script") else f"the {self.title} script"


def command_line(job: Job, python: Sequence[str]) -> list[str]:
    """The command that starts a job. python: what stands for Python in its ranks. Raises LauncherError."""
    script = [*python, *_started_as(job), *job.arguments]
    count = str(job.settings.world)
    placed = ["-np", count, "-H", job.hosts.argument]
    if job.settings.twins:
        return launch.command_line((job.work, *job.others), script)
    if job.start.launcher is Launcher.HOROVOD:
        return [*_horovodrun(job), *placed, f"--{job.controller}", *script]
    if job.start.launcher is Launcher.TORCHRUN and len(job.hosts.hosts) > 1:
        address = _first_address(job), str(_free_port())
        rank = interpreter.module("hvdkit.verify.torchrun_rank", *address, python=job.python)
        return [*_horovodrun(job), *placed, "--gloo", *rank, *script]
    if job.start.launcher is Launcher.TORCHRUN:
        meeting = ["--master-addr", "127.0.0.1", "--master-port", str(_free_port())]
        torchrun = ["--nproc-per-node", count, *meeting, "--no-python", *script]
        if [*python] == [job.python]:
            return interpreter.module("torch.distributed.run", *torchrun, python=job.python)
        return [*python, "-m", "torch.distributed.run", *torchrun]
    if job.start.launcher is Launcher.MPI:
        return [_find_mpirun(), "--oversubscribe", *placed, *script]
    return script


def _horovodrun(job: Job) -> list[str]:
    """horovodrun; on hosts that ssh reaches `hvdkit run`, which leaves no rank on any of them."""
    if shapes.is_here(job.hosts):
        return [job.python, UNCHECKED[1]]
    # Ranks are compared here, not by the watch. The rest: what is not passed by itself of `_environment`.
    named = [part for name in ("PYTHONUNBUFFERED", "CUBLAS_WORKSPACE_CONFIG") for part in ("-x", name)]
    return [*interpreter.code("from hvdkit.cli import run; run()"), "run", "--no-watch", *named]


def _first_address(job: Job) -> str:
    return "127.0.0.1" if shapes.is_here(job.hosts) else job.hosts.hosts[0].name


def _find_mpirun() -> str:
    found = shutil.which("mpirun")
    if found is None:
        raise LauncherError(
            "there is no mpirun", why="the original gets its rank from MPI", fix="install Open MPI"
        )
    return found


def _started_as(job: Job) -> list[str]:
    """The script as Python is given it: by its module's name where it imports from the package around it."""
    if job.script.is_relative_to(job.work.path) and imports_own_package(job.read):
        parts = job.script.relative_to(job.work.path).with_suffix("").parts
        if len(parts) > 1 and all(part.isidentifier() for part in parts):
            return ["-m", ".".join(parts)]
    return [str(job.script)]


def run_job(job: Job, progress: Callable[[str], None]) -> Run:
    """Run a job to its last recorded step and read its records.

    Raises RunError, HangError, NoStepError; whatever happens, no process of the run is left.
    """
    token = uuid.uuid4().hex
    log = job.folder / "output.log"
    environment = _environment(job, token)
    python = [*job.work.of_rank, job.python]
    framework = warmed_framework(job.read) if shapes.is_here(job.hosts) else None
    if framework is not None:
        python = warm_python(environment, framework, job.python)
    for folder in (job.settings.path, job.folder / "tmp"):
        folder.mkdir(parents=True)
    with log.open("wb") as output:
        launcher = subprocess.Popen(
            [*(() if job.settings.twins else job.work.within), *command_line(job, python)],
            cwd=job.work.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches us alone; we end the run
        )
    try:
        _watch(job, launcher, token, log, progress)
    finally:
        processes.stop(token, GRACE if shapes.is_here(job.hosts) else REMOTE_GRACE)
        launcher.wait()
    try:
        run = read_run(job.settings.path)
    except RecordError as error:
        raise RunError(f"{job.named}: {error}", fix="start it with one process per rank") from None
    if not any(run.taken(rank) for rank in run.steps):
        raise NoStepError(
            f"{job.named} ended without an optimizer step; its output:\n" + _in_users_folder(job, _tail(log)),
            why="there is nothing to compare",
            fix="after `--`, pass the arguments with which it trains",
        )
    return run


def _watch(
    job: Job, launcher: subprocess.Popen[bytes], token: str, log: Path, progress: Callable[[str], None]
) -> None:
    """Return when every rank is done or the script has ended well."""
    folder = job.settings.path
    seen, told, moved = 0, 0, time.monotonic()
    processes_of_ranks = 1 if job.settings.replicas > 1 else job.settings.world
    progress(f"{job.title}: {_described(job)}")
    while True:
        ended = launcher.poll()  # before the ranks: when it has ended, what they wrote is complete
        done = len(list((folder / "done").glob("*")))
        if done >= job.settings.world or ended == 0 or (done and time.monotonic() - moved > FOLLOW):
            return
        if ended is not None:
            error = RunError(
                f"{job.named} ended with exit code {ended}; its own output:\n" + _own_error(job, log),
                why=_first_to_end(job),
                fix=f"make this command work: {_by_hand(job)}",
            )
            error.record, error.work = folder, job.work.path
            raise error
        records = list((folder / "values").glob("rank-*"))
        begun = len(list((folder / BEGUN).glob("*")))
        if len(records) + begun != seen:
            seen, moved = len(records) + begun, time.monotonic()
            step = max((int(path.stem.rsplit("-", 1)[1]) for path in records), default=0)
            if step != told:
                told = step
                extent = "" if job.settings.steps == TO_END else f" of {job.settings.steps}"
                progress(f"{job.title}: step {step}{extent}")
        limit = job.timeout if begun >= processes_of_ranks else max(job.timeout, START)
        if time.monotonic() - moved > limit:
            where = processes.stacks(token, folder / "stacks", job.work.path)
            raise HangError(
                f"{job.named} took no step for {limit:g} s; its processes are here:\n"
                + _in_users_folder(job, "\n".join(where)),
                why=_first_to_end(job) or "one rank waits for another, or a step takes longer than that",
                fix="make all ranks reach the same collective calls, or raise --timeout",
            )
        time.sleep(0.05)


def _first_to_end(job: Job) -> str:
    """Which rank ended well where others did not; "" for none."""
    failed = {path.name.split()[-1] for path in (job.settings.path / "errors").glob("* rank *")}
    ended = [path for path in (job.settings.path / ENDED).glob("*") if path.name not in failed]
    if not ended or len(ended) == job.settings.world:
        return ""
    first = min(ended, key=lambda path: path.stat().st_mtime_ns)
    return (
        f"rank {first.name} ended first (steps taken: {first.read_text(encoding='utf-8')}), and others "
        "continue: all ranks must take the same number of steps"
    )


def _own_error(job: Job, log: Path) -> str:
    """The first uncaught exception of the script; without one the last lines of its output."""
    ranks = job.start.launcher in (Launcher.HOROVOD, Launcher.TORCHRUN, Launcher.MPI) or job.settings.twins
    own = "* rank *" if ranks else "*"
    errors = sorted((job.settings.path / "errors").glob(own))
    text = errors[0].read_text(encoding="utf-8") if errors else _tail(log)
    return _in_users_folder(job, text)


def _tail(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [re.sub(r"^\[\d+\]<std(out|err)>:", "", line) for line in text.splitlines()]  # by horovodrun
    return "\n".join(lines[-TAIL:]) or "(it printed nothing)"


def _in_users_folder(job: Job, text: str) -> str:
    """Indented, with the files named where the user has them."""
    return textwrap.indent(text.rstrip().replace(str(job.work.path), str(job.here)), "    ")


def _described(job: Job) -> str:
    """ "torchrun, 2 ranks, /usr/bin/python": how a job is started, and by which Python."""
    counted = 0 if job.start.launcher is Launcher.STRATEGY else job.settings.world
    ranks = f", {counted} rank{'s' if counted > 1 else ''}" if counted else ""
    return f"{job.start.launcher.value}{ranks}, {job.python}"


def _by_hand(job: Job) -> str:
    """What a person types to start the script the same way."""
    count = str(job.settings.world)
    hosts = ["-H", job.hosts.argument] if len(job.hosts.hosts) > 1 else []
    starts = {
        Launcher.HOROVOD: ["horovodrun", "-np", count, *hosts, f"--{job.controller}", "python"],
        Launcher.TORCHRUN: ["torchrun", "--nproc-per-node", count],
        Launcher.MPI: ["mpirun", "-np", count, "python"],
    }
    started = [*starts.get(job.start.launcher, ["python"]), *_started_as(job), *job.arguments]
    commands = [making(str(job.notebook), str(job.script)), started] if job.notebook else [started]
    return " && ".join(map(shlex.join, commands)).replace(str(job.work.path), str(job.here))


def _environment(job: Job, token: str) -> dict[str, str]:
    """The caller's environment, with the hook in front and what would make two runs differ fixed."""
    earlier = os.environ.get("PYTHONPATH")
    patience = str(int(max(job.timeout, START)))
    return {
        # Horovod's ranks wait 30 s for each other; on a busy machine that is too short.
        "HOROVOD_GLOO_TIMEOUT_SECONDS": patience,
        "HOROVOD_START_TIMEOUT": patience,
        **os.environ,
        **job.settings.to_environment(),
        processes.VARIABLE: token,
        "PYTHONPATH": f"{SITE}{os.pathsep}{earlier}" if earlier else str(SITE),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "TMPDIR": str(job.folder / "tmp"),
        # With as many ranks as cores a waiting rank must not keep its core from a working one.
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
