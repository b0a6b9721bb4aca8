"""`hvdkit run`: its arguments, the order of things, its exit code."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hvdkit.arguments import RANKS, CommandParser, parsed
from hvdkit.earlier import is_timeline
from hvdkit.errors import UsageError
from hvdkit.hosts import environment, interfaces
from hvdkit.hosts import lists as hosts
from hvdkit.hosts.lists import Host, HostList
from hvdkit.hosts.ssh import Ssh
from hvdkit.launch import options
from hvdkit.launch.allocation import hosts_of_allocation
from hvdkit.launch.program import command_of
from hvdkit.reports import Output

EXAMPLES = """\
hvdkit run -np 2 python train.py                        two ranks on this machine
hvdkit run -np 4 -H a:2,b:2 python train.py --epochs 9  two hosts
hvdkit run --nodes cluster.toml --mpi python train.py   every slot of a node list, by MPI
hvdkit run --torch -np 4 -H a:2,b:2 python fsdp.py      any torchrun program, unchanged
hvdkit run -np 2 train.ipynb                            the cells of a notebook as one program
hvdkit run -H a:2,b:2 --restarts 3 --min-np 2 python train.py   go on with one host where the other is lost
hvdkit run -np 2 -x API_KEY --log-dir logs python train.py
hvdkit run -np 2 --timeline timeline.json python train.py   then: hvdkit timeline timeline.json
hvdkit run -np 2 --tuned hvdkit-tune.toml python train.py   with the settings that hvdkit tune has found
"""
EXITS = {
    "0": "all ranks succeeded",
    "2": "the job was not started",
    "130": "interrupted",
    "other": "that of the first rank that failed",
}


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "run",
        "Check the hosts, start the ranks with horovodrun, and watch them until they end.",
        EXAMPLES,
        EXITS,
        "Ranks get the variables that a job needs (PATH, HOROVOD_*, NCCL_*, ...) and those that -x names.",
        "hvdkit run [options] COMMAND ...",
    )
    made.add_argument(*RANKS, type=int, metavar="N", help="ranks (default: all slots)")
    hosts.add_options(made)
    options.add_setting(made)
    programs = {"torch": "torch.distributed", "tensorflow": "a MultiWorkerMirroredStrategy"}
    options.add_choice(
        made, "world", {name: f"a program of {what}, unchanged" for name, what in programs.items()}
    )
    made.add_argument("--network-interface", default="", metavar="NAME", help="the only one to use")
    made.add_argument("--mpi-args", default="", metavar="ARGS", help="more arguments for mpirun")
    made.add_argument("--start-timeout", type=int, metavar="S", help="seconds until all ranks are started")
    made.add_argument("--ctrl-port", type=int, metavar="PORT", help="where ranks report to (default: any)")
    made.add_argument(
        "-x", dest="named", action="append", default=[], metavar="VAR[=VALUE]", help="pass one more variable"
    )
    made.add_argument(
        "--timeline",
        action=Output,
        known=is_timeline,
        help="record Horovod's timeline there, for hvdkit timeline",
    )
    made.add_argument("--log-dir", type=Path, metavar="DIR", help="write rank.N.log files there")
    made.add_argument(
        "--restarts",
        type=int,
        default=0,
        metavar="N",
        help="start again up to N times when a rank or host is lost",
    )
    made.add_argument(
        "--min-np", type=int, metavar="M", help="ranks that suffice for a restart (default: all)"
    )
    made.add_argument(
        "--force",
        action="store_true",
        help="start despite errors and TODO markers; replace any --timeline FILE",
    )
    made.add_argument("--no-watch", action="store_true", help="do not compare the ranks (see docs/run.md)")
    made.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...", help="of each rank")
    return made


def main(argv: list[str]) -> int:
    """Exit code: 0, or that of the first rank that failed. Raises: HvdkitError before any rank starts."""
    asked = parsed(parser(), argv[1:])
    command = command_of(asked.command, _say, asked.force)
    world = asked.world or ""
    if world:
        _refuse_horovods_own(world, asked)
    named = hosts.from_options(asked) or hosts_of_allocation(os.environ)
    named = named or HostList((Host("localhost", _positive(asked.num_proc or 1)),))
    ranks = _positive(asked.num_proc if asked.num_proc is not None else named.slots)
    setting = options.setting(asked)
    environ = environment.for_launcher({**os.environ, **setting.variables}, asked.named)
    if asked.timeline is not None:
        environ.update(environment.recording(asked.timeline))
    elif not world and interfaces.is_own_address(named.hosts[0].name):
        environment.check_timeline(environ)
    least = _positive(asked.min_np if asked.min_np is not None else ranks)
    if asked.restarts < 0 or least > ranks:
        raise UsageError(
            f"--restarts {asked.restarts} --min-np {least} with {ranks} ranks",
            fix="0 or more, and at most -np",
        )
    from hvdkit.launch import foreign, preflight, restarts
    from hvdkit.launch.attempt import Wanted
    from hvdkit.launch.horovodrun import Start, find_horovodrun
    from hvdkit.launch.screen import Screen

    find_horovodrun()
    script = preflight.script_of(command)
    if not asked.force:
        preflight.refuse_unfinished(script)
        if not world and ranks > 1:
            foreign.refuse_foreign(script, command)
    wanted = Wanted(
        named,
        Start(
            ranks,
            named,
            setting.controller or ("gloo" if world else ""),
            ssh=Ssh(asked.ssh_port, asked.ssh_identity_file),
            mpi_args=asked.mpi_args,
            start_timeout=asked.start_timeout,
            world=world,
            yields=setting.yields,
        ),
        command,
        environ,
        script,
        asked.network_interface,
        asked.ctrl_port if asked.ctrl_port is not None else named.ctrl_port,
        asked.log_dir,
        watched=not asked.no_watch,
        force=asked.force,
        restarts=asked.restarts,
    )
    return restarts.run(wanted, ranks, least, Screen()).code


def _refuse_horovods_own(world: str, asked: argparse.Namespace) -> None:
    """Raises: UsageError for an option that a program of another library has no use for."""
    from_mpi = f"ranks that MPI starts take MPI for their launcher, not what --{world} gives them"
    for option, given, why in (
        ("--mpi", asked.controller == "mpi", from_mpi),
        ("--tuned", asked.tuned is not None, "it holds settings of Horovod"),
        ("--timeline", asked.timeline is not None, "only Horovod records one"),
    ):
        if given:
            raise UsageError(f"--{world} with {option}", why=why, fix=f"leave {option} out")


def _positive(number: int) -> int:
    if number < 1:
        raise UsageError(f"-np {number}", fix="1 or more ranks")
    return number


def _say(text: str) -> None:
    print(f"hvdkit: {text}", file=sys.stderr, flush=True)
