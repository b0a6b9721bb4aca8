"""The cause of each log that was taken from a failure really provoked, and `unknown` for everything else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvdkit.explain import report
from hvdkit.explain.cause import Cause
from hvdkit.explain.causes import all_causes
from hvdkit.explain.log import parse
from hvdkit.explain.page import page
from hvdkit.explain.verdict import judge

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("logs/*/*.log"))
UNRELATED = sorted(HERE.glob("unrelated/*.log"))
CIRCULAR = "(most likely due to a circular import)"
# What a sentence is filled with; code in it may hold an f-string.
TEMPLATE = re.compile(r"(?<!f'G\.)\{")
CAUSES = {cause.id: cause for cause in all_causes()}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", LOGS, ids=name)
def test_the_cause_is_named(path: Path) -> None:
    verdict = judge(parse(path.read_text()))
    assert [found.cause.id for found in verdict.found][:1] == [path.parent.name]
    told = report.text(verdict, "job.log")
    assert told.startswith("cause: ") and "  fix: " in told
    for found in verdict.found:
        for sentence in (found.title, found.why, found.fix):
            assert not TEMPLATE.search(sentence), "a name that the log does not give"


@pytest.mark.parametrize("path", UNRELATED, ids=name)
def test_an_unrelated_log_is_unknown(path: Path) -> None:
    verdict = judge(parse(path.read_text()))
    assert verdict.found == ()
    assert report.text(verdict, "x.log").startswith("unknown: ")


def test_there_are_enough_of_both() -> None:
    assert len({path.parent.name for path in LOGS}) >= 20
    assert len(UNRELATED) >= 10


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)
def test_every_cause_has_a_log_or_says_that_it_takes_a_gpu(cause: Cause) -> None:
    """Provoked, or rebuilt from the public report that it names."""
    logs = sorted((HERE / "logs" / cause.id).glob("*.log"))
    if cause.on_gpu and not cause.source:
        assert not logs and not cause.excerpt
        return
    assert logs and cause.excerpt
    lines = {line.text.rstrip() for path in logs for line in parse(path.read_text()).lines}
    for shown in cause.excerpt.splitlines():
        start = shown.removesuffix(" ...")
        assert any(line.startswith(start) for line in lines), f"in no log of {cause.id}: {shown}"


def test_the_launchers_words_are_not_the_scripts_own_error() -> None:
    """Rank 1 fails, rank 0 and horovodrun complain: the first is the cause."""
    for path in (HERE / "logs" / "own_error").glob("one_rank_*.log"):
        first = judge(parse(path.read_text())).found[0]
        assert first.title == "rank 1 failed at /proj/train.py:14: KeyError: 'label'"


def test_a_stall_names_rank_and_tensor() -> None:
    for path in (HERE / "logs" / "stalled").glob("evaluation_*.log"):
        title = judge(parse(path.read_text())).found[0].title
        assert title.startswith("rank 1 never reaches allreduce.")


def test_versions_that_do_not_fit_are_told() -> None:
    verdict = judge(parse((HERE / "logs" / "extension_broken" / "tensorflow.log").read_text()))
    assert verdict.found[0].title.endswith(": it was built for tensorflow 2.15.1, and 2.18.1 is installed")


def test_a_rank_whose_environment_is_another_one_is_named() -> None:
    for path in (HERE / "logs" / "extension_missing").glob("one_rank_*.log"):
        assert judge(parse(path.read_text())).found[0].title.endswith("horovod.torch on rank 1")


def test_a_crash_is_shown_where_faulthandler_tells_of_it() -> None:
    for path in (HERE / "logs" / "crashed").glob("faulthandler_*.log"):
        log = parse(path.read_text())
        line = judge(log).found[0].match.line
        assert next(one.text for one in log.lines if one.number == line).startswith("Fatal Python error: ")


def test_a_rank_that_tells_why_it_aborts_has_an_error_of_its_own() -> None:
    abort = (HERE / "logs" / "mpi_abort" / "mpi4py.log").read_text()
    error = (HERE / "logs" / "own_error" / "one_rank_mpi.log").read_text()
    assert [found.cause.id for found in judge(parse(abort + error)).found][:1] == ["own_error"]


def explained(log: str) -> tuple[str, str]:
    first = judge(parse(log)).found[0]
    return first.title, first.fix


def traceback(error: str, file: str = "/job/train.py") -> str:
    return (
        f'[0]<stderr>:Traceback (most recent call last):\n[0]<stderr>:  File "{file}", line 2, in <module>\n'
        f"[0]<stderr>:    import it\n[0]<stderr>:{error}\nProcess 0 exit with status code 1.\n"
    )


@pytest.mark.parametrize(
    ("error", "frame", "hidden"),
    [
        (
            "ModuleNotFoundError: No module named 'horovod.torch'; 'horovod' is not a package",
            "/job/horovod.py",
            "",
        ),
        (
            f"AttributeError: partially initialized module 'torch' has no attribute 'nn' {CIRCULAR}",
            "/job/torch/__init__.py",
            "",
        ),
        (
            "ImportError: cannot import name 'nn' from 'torch' (/job/torch.py)",
            "/job/train.py",
            "/job/torch.py",
        ),
        (
            "AttributeError: module 'random' has no attribute 'seed' (consider renaming '/job/random.py' "
            "since it has the same name as the standard library module named 'random')",
            "/job/train.py",
            "/job/random.py",
        ),
    ],
)
def test_the_file_that_hides_a_package_is_named(error: str, frame: str, hidden: str) -> None:
    title, fix = explained(traceback(error, frame))
    file = hidden or frame
    assert title.startswith(f"{file} hides the package ") and fix.startswith(f"rename {file} ")


@pytest.mark.parametrize(
    "error",
    [
        f"AttributeError: partially initialized module 'helpers' has no attribute 'x' {CIRCULAR}",
        "ImportError: cannot import name 'old' from 'torch' (/opt/venv/site-packages/torch/__init__.py)",
        "ImportError: cannot import name 'x' from 'helpers' (/job/helpers.py)",
    ],
)
def test_an_import_that_fails_for_another_reason_hides_nothing(error: str) -> None:
    assert judge(parse(traceback(error, "/job/helpers.py"))).found[0].cause.id == "own_error"


def test_what_is_to_be_installed() -> None:
    """Nobody can install a package called horovod.torch, and pip builds no Horovod that works."""
    for name in ("horovod", "horovod.torch"):
        _, fix = explained(traceback(f"ModuleNotFoundError: No module named '{name}'"))
        assert fix.startswith("hvdkit install-horovod")
    _, fix = explained(traceback("ModuleNotFoundError: No module named 'cv2'"))
    assert "the package that holds cv2" in fix


def test_a_package_that_the_script_does_without_is_not_the_cause() -> None:
    warned = "[0]<stderr>:WARNING: ModuleNotFoundError: No module named 'apex'\n"
    title, _ = explained(warned + traceback("KeyError: 'label'"))
    assert title == "rank 0 failed at /job/train.py:2: KeyError: 'label'"


def test_the_script_that_is_not_migrated_is_named() -> None:
    for log in sorted((HERE / "logs" / "not_migrated").glob("*.log")):
        title, fix = explained(log.read_text())
        assert title.startswith("the script is not migrated: torch.distributed on rank ")
        assert fix.startswith("hvdkit migrate ") and "train.py --write" in fix


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES)
def test_no_template_is_published(cause: Cause) -> None:
    for sentence in (cause.title, cause.why, cause.fix):
        said = cause.in_general(sentence)
        assert not TEMPLATE.search(said) and "  " not in said and said == said.strip()
        assert said in page()


def test_the_page_is_made_from_the_causes() -> None:
    committed = (HERE.parents[1] / "docs" / "explain.md").read_text()
    assert committed == page(), "run scripts/docs"
