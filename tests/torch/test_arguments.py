"""The flags of Horovod's examples, and how they reach DistributedOptimizer."""

from __future__ import annotations

import argparse
import inspect

import pytest

import hvdkit.torch as hvd


def parser() -> argparse.ArgumentParser:
    return hvd.add_arguments(argparse.ArgumentParser())


def test_without_flags_nothing_changes() -> None:
    assert hvd.optimizer_arguments(parser().parse_args([])) == {
        "fp16_allreduce": False,
        "use_adasum": False,
        "batches_per_allreduce": 1,
        "gradient_predivide_factor": 1.0,
    }


def test_flags_become_keywords_of_the_optimizer() -> None:
    line = "--fp16-allreduce --use-adasum --batches-per-allreduce 4 --gradient-predivide-factor 2.5"
    keywords = hvd.optimizer_arguments(parser().parse_args(line.split()))
    assert keywords == {
        "fp16_allreduce": True,
        "use_adasum": True,
        "batches_per_allreduce": 4,
        "gradient_predivide_factor": 2.5,
    }
    assert set(keywords) <= set(inspect.signature(hvd.DistributedOptimizer).parameters)


@pytest.mark.parametrize(
    "line",
    [
        "--batches-per-allreduce 0",
        "--batches-per-allreduce two",
        "--gradient-predivide-factor -1",
        "--gradient-predivide-factor nan",
        "--gradient-predivide-factor inf",
    ],
)
def test_values_that_make_no_sense_are_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(line.split())
    assert line.split()[0] in capsys.readouterr().err


def test_help_says_what_each_is_for() -> None:
    text = parser().format_help()
    for flag in ("--fp16-allreduce", "--use-adasum", "--batches-per-allreduce N"):
        assert flag in text
