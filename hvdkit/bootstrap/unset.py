"""What torch.distributed says where its own launcher did not start a process."""

from __future__ import annotations

import re

ENVIRONMENT = re.compile(
    r"environment variable (?P<what>\w+) expected, but not set"
    r"|^KeyError: '(?P<variable>RANK|WORLD_SIZE|LOCAL_RANK|MASTER_ADDR|MASTER_PORT)'"
    r"|(?P<group>Default process group has not been initialized)"
)
