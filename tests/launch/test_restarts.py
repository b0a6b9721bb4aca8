"""Which hosts a job is started on again, and when it is not: the attempts themselves are stood in for."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from hvdkit.errors import HvdkitError
from hvdkit.examination.finding import Finding, Level
from hvdkit.examination.session import Report
from hvdkit.hosts.lists import HostList, parse_hosts
from hvdkit.launch import restarts
from hvdkit.launch.attempt import Wanted
from hvdkit.launch.horovodrun import Start
from hvdkit.launch.job import Outcome
from hvdkit.launch.lifeline import RankEnd
from hvdkit.launch.preflight import PreflightError
from hvdkit.launch.screen import Screen

HOSTS = parse_hosts("a:2,b:2")
LOST = Outcome(1, RankEnd(3, "b", None))
WELL = Outcome(0)


class Job:
    """answering: hosts that answer before each start. outcomes: of each start, or what prevents it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answering: list[str], outcomes: list[Any]) -> None:
        self._err = io.BytesIO()
        self.pauses: list[float] = []
        self.started: list[tuple[str, int, int]] = []
        self.findings: list[tuple[Finding, ...]] = []
        self._answering, self._outcomes = iter(answering), iter(outcomes)
        monkeypatch.setattr(restarts, "examined", self._examined)
        monkeypatch.setattr(restarts, "attempt", self._attempt)
        monkeypatch.setattr(restarts.time, "sleep", self.pauses.append)

    def run(self, times: int, least: int) -> Outcome:
        wanted = Wanted(HOSTS, Start(4, HOSTS, "gloo"), ["python", "train.py"], {}, restarts=times)
        return restarts.run(wanted, 4, least, Screen(io.BytesIO(), self._err))

    @property
    def said(self) -> list[str]:
        return self._err.getvalue().decode().replace("hvdkit: ", "").splitlines()

    def _examined(self, wanted: Wanted, used: HostList, *_: object) -> Report:
        there = tuple(next(self._answering))
        lost = [host.name for host in used.hosts if host.name not in there]
        findings = tuple(Finding(Level.ERROR, "no answer", "", "", "ssh", name) for name in lost)
        return Report(findings, {}, None, there)

    def _attempt(
        self, _: Wanted, used: HostList, ranks: int, report: Report, number: int, __: Any
    ) -> Outcome:
        self.started.append((used.argument, ranks, number))
        self.findings.append(report.findings)
        outcome = next(self._outcomes)
        if isinstance(outcome, HvdkitError):
            raise outcome
        assert isinstance(outcome, Outcome)
        return outcome


def test_with_a_host_less_and_all_of_them_once_they_are_back(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(monkeypatch, ["ab", "a", "ab"], [LOST, LOST, WELL])
    assert job.run(3, 2) == WELL
    assert job.started == [("a:2,b:2", 4, 0), ("a:2", 2, 1), ("a:2,b:2", 4, 2)]
    assert job.pauses == [5, 10]
    assert "no answer from b" in job.said and "starting 2 ranks on a:2" in job.said
    assert job.findings == [(), (), ()], "what was found on a lost host prevents nothing"


def test_no_start_with_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(monkeypatch, ["ab", "a", ""], [LOST])
    assert job.run(2, 4) == LOST
    assert [line for line in job.said if line.startswith("no start")] == [
        "no start: 2 of 4 ranks have a host that answers, and --min-np is 4",
        "no start: 0 of 4 ranks have a host that answers, and --min-np is 4",
    ]


def test_a_start_that_a_check_prevents_is_missed_and_the_first_one_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prevented = PreflightError("1 of the checks failed")
    job = Job(monkeypatch, ["ab", "ab", "ab"], [LOST, prevented, WELL])
    assert job.run(2, 4) == WELL and "no start: 1 of the checks failed" in job.said
    with pytest.raises(PreflightError):
        Job(monkeypatch, ["ab"], [prevented]).run(2, 4)


@pytest.mark.parametrize("outcome", [WELL, replace(LOST, first=None, parted=HvdkitError("parted"))])
def test_what_is_not_started_again(monkeypatch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    job = Job(monkeypatch, ["ab"], [outcome])
    assert job.run(2, 2) == outcome and job.pauses == []
