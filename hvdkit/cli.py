"""The `hvdkit` command: finds the sub-command and hands over. A command is imported when it is called.

Every command module has `main(argv) -> int` with its own parser; exit codes are the same for all:
0 done, 1 something is left or does not hold, 2 hvdkit failed, 130 interrupted.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

from hvdkit import __version__
from hvdkit.errors import HvdkitError
from hvdkit.printable import make_printable

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("hvdkit.start.command", "inspect a folder and suggest the next command"),
    "migrate": ("hvdkit.migrate.command", "rewrite a script or a project to Horovod"),
    "check": ("hvdkit.check.command", "find what is silently wrong in a script that uses Horovod"),
    "verify": ("hvdkit.verify.command", "prove that a migrated script computes what the original does"),
    "rules": ("hvdkit.migrate.catalog.pages", "list the rules of migrate and check"),
    "explain": ("hvdkit.explain.command", "explain a rule, or why a job failed: --log FILE"),
    "run": ("hvdkit.launch.command", "check the hosts, start the ranks, watch them until they end"),
    "timeline": ("hvdkit.timeline.command", "say what makes the steps of a job slow, by Horovod's timeline"),
    "bench": (
        "hvdkit.bench.command",
        "measure how fast a model trains on these hosts, and what takes its time",
    ),
    "tune": ("hvdkit.tune.command", "search the settings of Horovod that are fastest on these hosts"),
    "setup-ssh": ("hvdkit.launch.setup_ssh", "show what to copy until ssh works without a prompt"),
    "docker": ("hvdkit.docker.command", "write the files that run a script in containers and on Kubernetes"),
    "doctor": ("hvdkit.doctor.command", "find what is wrong with this machine, or with the hosts of a job"),
    "install-horovod": ("hvdkit.install.command", "build and install a Horovod that fits this environment"),
    "completion": ("hvdkit.completion.command", "complete commands and options in bash, zsh and fish"),
}

OPTIONS = ("help", "--help", "--version")

EXAMPLES = """\
examples:
  hvdkit migrate train.py                   show the diff and what is left to you; nothing is written
  hvdkit migrate src/ --write               rewrite a project; hvdkit migrate --undo restores it
  hvdkit check train.py                     what is silently wrong in a script that uses Horovod
  hvdkit verify train_ddp.py train_hvd.py   both run on 2 ranks, weights compared after each step
  hvdkit run -np 4 -H a:2,b:2 python train.py   check two hosts, then start four ranks on them
  hvdkit docker train.py --kubernetes       Dockerfile, compose.yaml and manifests for a Horovod script
  hvdkit doctor -H a:2,b:2                  find what prevents a job on two hosts
  hvdkit install-horovod                    build Horovod for the torch or TensorFlow installed here
"""


FIRST = """\
hvdkit converts a PyTorch or TensorFlow training script into a correct, fast Horovod job, and proves it.

  hvdkit init                               inspect this folder and suggest the next command
  hvdkit migrate train.py                   show the change and what is left to you; --write writes it
  hvdkit verify train_ddp.py train_hvd.py   run both on 2 ranks and compare every weight
  hvdkit check train.py                     find what is silently wrong in a Horovod script
  hvdkit explain --log job.log              find why a job failed or hangs

usage: hvdkit COMMAND [ARGUMENTS]; `hvdkit --help` lists all commands
"""


def usage() -> str:
    """The text of `hvdkit --help`."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items())
    return (
        "usage: hvdkit COMMAND [ARGUMENTS]\n\n"
        "Converts a training script into a correct, fast Horovod job, and proves it.\n\n"
        f"commands:\n{rows}\n\n"
        "options:\n  -h, --help     this text; `hvdkit help COMMAND` for a command's own\n"
        "  -V, --version  the version\n\n" + EXAMPLES
    )


def main(argv: list[str]) -> int:
    """Run one command line (without the program's name) and return its exit code."""
    if argv[:1] == ["help"] and len(argv) > 1:
        argv = [argv[1], "--help"]
    if not argv:
        print(FIRST, end="")
        return 2
    if argv[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return 0
    if argv[0] in ("-V", "--version"):
        print(f"hvdkit {__version__}")
        return 0
    name = argv[0]
    if name not in COMMANDS:
        from hvdkit.arguments import nearest

        near = nearest(name, (*COMMANDS, *OPTIONS))
        hint = f"did you mean `hvdkit {near}`?" if near else "`hvdkit --help` lists the commands"
        what = "option" if name.startswith("-") else "command"
        print(f"hvdkit: no {what} {name!r}: {hint}", file=sys.stderr)
        return 2
    try:
        from hvdkit.collecting import uncollected

        with uncollected():
            command = import_module(COMMANDS[name][0])
        return int(command.main(argv))
    except HvdkitError as error:
        print(f"hvdkit {name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"hvdkit {name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # `hvdkit ... | head`: the reader has seen enough; keep Python from complaining at exit.
        sys.stderr.close()
        return 0


def run() -> None:
    """Entry point of the console script."""
    sys.stdout, sys.stderr = make_printable(sys.stdout), make_printable(sys.stderr)
    code = main(sys.argv[1:])
    gc.freeze()  # Python ends with a collection: what stays until then, modules above all, is left out of it
    sys.exit(code)
