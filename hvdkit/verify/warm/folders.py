"""The folders that a client sees: a fork enters its mount namespace, and is kept from the same folders."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping
from pathlib import Path

from hvdkit.verify import shield

VERSION = 0x20080522  # of the structures of capset(2)


def enter(user: int, mounts: int, variables: Mapping[str, str]) -> None:
    """Enter the namespaces that two files are, and take up the shield that variables name. Raises OSError."""
    if not _is_own("mnt", mounts):
        if not _is_own("user", user):
            _set(user)
            _set(mounts)
            _drop_capabilities()
        else:
            _set(mounts)
    if shield.VARIABLE in variables:
        shield.enter(shield.Plan.read(Path(variables[shield.VARIABLE])))


def _is_own(kind: str, file: int) -> bool:
    return os.path.samestat(os.fstat(file), Path("/proc/self/ns", kind).stat())


def _set(file: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file, 0):
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


def _drop_capabilities() -> None:
    """Who enters a user namespace has every capability in it; a program that is started there has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(struct.pack("=Ii", VERSION, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), f"capset: {os.strerror(ctypes.get_errno())}")
