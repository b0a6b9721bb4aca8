"""`hvdkit docker`: a script in, the files that run it in containers out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import RANKS, CommandParser, parsed
from hvdkit.docker.compose import compose
from hvdkit.docker.dockerfile import REQUIREMENTS, dockerfile, ignored, required
from hvdkit.docker.job import Job, check_image, check_ranks, name_of
from hvdkit.docker.kubernetes import mpijob, pytorchjob
from hvdkit.docker.layout import lay_out
from hvdkit.docker.report import Outcome, as_json, show
from hvdkit.docker.requirements import Requirements, find_requirements
from hvdkit.docker.script import Script, read_script
from hvdkit.docker.withheld import withheld
from hvdkit.errors import UsageError
from hvdkit.files import is_inside
from hvdkit.migrate.write.reports import undo_last, write_new
from hvdkit.shell import word
from hvdkit.verify.options import split_arguments

EXAMPLES = """\
hvdkit docker train.py                           Dockerfile and compose.yaml: 4 ranks in 2 containers
hvdkit docker train.py -np 8 --containers 4      two ranks in each of four containers
hvdkit docker train.py --gpu -- --epochs 90      one GPU a rank; the script's own arguments after `--`
hvdkit docker train.ipynb --output deploy        a notebook; the files are written to deploy/
hvdkit docker train.py --kubernetes --image registry.example.org/team/train:1
hvdkit docker --undo                             take back what the last run wrote or replaced
"""
EXITS = {
    "0": "written, nothing is left to you",
    "1": "written, and something is left to you",
    "2": "hvdkit failed, and nothing was written",
}


def parser() -> CommandParser:
    """The parser of `hvdkit docker`."""
    made = CommandParser(
        "docker",
        "Write the Dockerfile, compose.yaml and Kubernetes manifests of a Horovod script.",
        EXAMPLES,
        EXITS,
        "The current folder is the project: the image gets a copy, less what .dockerignore lists.",
        "hvdkit docker [options] SCRIPT [-- ARGUMENTS]\n       hvdkit docker --undo",
    )
    made.add_argument(
        "script", nargs="?", metavar="SCRIPT", type=Path, help="a script or a notebook that uses Horovod"
    )
    what = made.add_argument_group("what to run")
    what.add_argument(*RANKS, type=int, default=4, metavar="N", help="ranks (default: 4)")
    what.add_argument(
        "--containers",
        type=int,
        default=2,
        metavar="N",
        help="number of containers, which share the ranks evenly (default: 2)",
    )
    what.add_argument("--gpu", action="store_true", help="use the CUDA image, and one GPU for each rank")
    what.add_argument("--image", metavar="NAME", help="name of the image (default: the project's folder)")
    where = made.add_argument_group("what to write")
    where.add_argument(
        "--kubernetes", action="store_true", help="also the manifests of MPIJob and PyTorchJob"
    )
    where.add_argument(
        "--output", type=Path, metavar="DIR", help="a folder of the project for the files (default: its own)"
    )
    where.add_argument("--force", action="store_true", help="replace files that are there")
    reports.add_reports(where, {"--json": "what was found and written as JSON"})
    where.add_argument("--undo", action="store_true", help="take back what the last run here wrote")
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit docker` and return its exit code."""
    own, arguments = split_arguments(list(argv[1:]))
    args = parsed(parser(), own)
    context = Path.cwd()
    if args.undo:
        undo_last([])
        return 0
    if args.script is None:
        raise UsageError("no script was given", "", "hvdkit docker train.py")
    path = Path(os.path.abspath(args.script))
    folder = Path(os.path.abspath(args.output or context))
    _check_places(context, path, folder)
    check_ranks(args.num_proc, args.containers)
    image = check_image(args.image or f"{name_of(context)}:latest")
    script = read_script(path)
    needed = find_requirements(context, script)
    layout = lay_out(context, script)
    for name in (*layout.command, *layout.paths):
        _check_name(name)
    job = Job(
        context=context,
        folder=folder,
        name=name_of(context),
        image=image,
        command=(*layout.command, *arguments),
        ranks=args.num_proc,
        containers=args.containers,
        gpu=args.gpu,
        tensorflow=script.tensorflow,
        requirements=bool(needed.lines),
        notebook=layout.notebook,
        paths=layout.paths,
        secrets=tuple(secret.variable for secret in needed.secrets),
        withheld=tuple(os.path.relpath(file, context) for file in withheld(context, needed)),
    )
    texts, left_out = _texts(job, script, needed, args.kubernetes)
    written = write_new(
        {file: text.encode() for file, text in texts.items()},
        context,
        args.force,
        "--output deploy writes into a folder of its own",
        "hvdkit docker --undo",
    )
    kept = tuple(file for file in texts if file not in written)
    _report(Outcome(script, job, needed, written, kept, left_out), args.json)
    return int(bool(script.findings or needed.unknown))


def _check_places(context: Path, script: Path, folder: Path) -> None:
    if not script.is_file():
        raise UsageError(
            f"{script} is not a file" if script.exists() else f"{script} does not exist",
            "",
            "hvdkit docker train.py: the script or notebook that starts the training",
        )
    if script.suffix not in (".py", ".ipynb"):
        raise UsageError(f"{script.name} is neither a .py nor an .ipynb file", "", "give the Python script")
    for path in (script, folder):
        _check_name(os.path.relpath(path, context))
    if not script.is_relative_to(context):
        raise UsageError(
            f"{script} is outside the current folder",
            "the current folder is the project that goes into the image",
            f"cd {word(script.parent)} && hvdkit docker {word(script.name)}",
        )
    if not is_inside(script, context):
        raise UsageError(
            f"{script} leads to {os.path.realpath(script)}, outside the current folder",
            "the image gets a copy of the current folder, in which the link leads nowhere",
            "replace the link with a copy: "
            f"cp --remove-destination {word(os.path.realpath(script))} {word(script)}",
        )
    if not folder.is_relative_to(context):
        raise UsageError(
            f"--output {folder} is outside the current folder",
            "the Dockerfile copies one of the files, which must be in the project",
            "--output deploy",
        )


def _check_name(name: str) -> None:
    if not name.isprintable():
        raise UsageError(
            f"{name!r}: a name with characters that cannot be printed",
            "a Dockerfile and YAML hold text, and a line that such a name breaks is another instruction",
            "rename it",
        )


def _texts(
    job: Job, script: Script, needed: Requirements, kubernetes: bool
) -> tuple[dict[Path, str], tuple[str, ...]]:
    """Every file with its text, and what could not be written."""
    # Beside a Dockerfile that is not the project's own, its list of what to leave out bears its name.
    ignoring = ".dockerignore" if job.folder == job.context else "Dockerfile.dockerignore"
    texts = {"Dockerfile": dockerfile(job), ignoring: ignored(job), "compose.yaml": compose(job)}
    if needed.lines:
        texts[REQUIREMENTS] = required(needed)
    left_out: tuple[str, ...] = ()
    if kubernetes:
        texts["mpijob.yaml"] = mpijob(job)
        if script.connects:
            texts["pytorchjob.yaml"] = pytorchjob(job)
        else:
            left_out = (_no_pytorchjob(script),)
    return {job.folder / name: text for name, text in texts.items()}, left_out


def _no_pytorchjob(script: Script) -> str:
    plain = next(module for module in script.modules if not module.startswith("hvdkit."))
    return (
        f"no pytorchjob.yaml: {plain} connects no ranks there, each pod would train alone\n"
        f"    mpijob.yaml starts it; PyTorchJob starts what imports {plain.replace('horovod', 'hvdkit', 1)}"
    )


def _report(outcome: Outcome, target: Path | None) -> None:
    if target is not None:
        reports.put_json(target, as_json(outcome), [outcome.script.path])
    if target != reports.STDOUT:
        show(outcome)
