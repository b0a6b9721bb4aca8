"""What can be wrong with a start: one error for each cause that a caller can act on."""

from __future__ import annotations

from hvdkit.errors import HvdkitError


class LaunchEnvironmentError(HvdkitError):
    """The variables that give this process its rank are missing, wrong, or contradict each other."""


class UnsynchronisedCopiesError(HvdkitError):
    """The launcher started more processes than Horovod connected."""


class MeetingError(HvdkitError):
    """The ranks or nodes of a job did not find each other: one never came, or the port is not theirs."""


class NodeListError(HvdkitError):
    """The node list does not fit this machine, or this process cannot be started again as its ranks."""


class JobFailedError(HvdkitError):
    """A rank or a node of a running job failed. seen: which, where, and how."""
