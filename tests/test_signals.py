"""What `nohup` has ignored stays ignored while a job runs."""

from __future__ import annotations

import os
import signal

import pytest

from hvdkit.launch.job import _interruptible
from hvdkit.signals import heeded


def test_an_ignored_signal_ends_no_job() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in heeded((signal.SIGTERM, signal.SIGHUP))
        with _interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_any_other_ends_it() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt), _interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
