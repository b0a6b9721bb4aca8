"""A log without this machine's names: paths, host, user and process numbers become neutral ones."""

from __future__ import annotations

import os
import re
import socket
import sys
import sysconfig
from pathlib import Path

KEPT = 160  # lines; of a longer log the middle is left out


def neutral(text: str) -> str:
    """The same log as it could come from anywhere; the middle of a very long one is left out."""
    library = sysconfig.get_paths()["stdlib"]
    for path, name in {
        sysconfig.get_paths()["purelib"]: "/opt/venv/lib/python3/site-packages",
        sys.prefix: "/opt/venv",
        str(Path(__file__).parents[3]): "/opt/hvdkit",
        library: "/usr/lib/python3",
        str(Path.home()): "/home/user" if str(Path.home()) != "/" else "/",
    }.items():
        text = text.replace(path, name)
    text = re.sub(r"/\S*/((?:horovod/common|third_party)/\S+\.cc)", r"\1", text)
    text = re.sub(r".*: [TD] \S*gloo/(?:http_store|gloo_context)\.cc:.*\n", "", text)  # of a trace, many
    text = re.sub(r"/tmp/explain[\w-]+", "/proj", text)
    text = re.sub(r"/tmp/(__autograph_generated_file)\w*", r"/proj/\1", text)  # TensorFlow's own
    text = re.sub(r"/tmp/[\w./-]*?(?=/)", "/tmp/x", text)
    text = text.replace(socket.gethostname(), "node1")
    user = os.environ.get("USER", "")
    if user and user != "root":
        text = text.replace(user, "user")
    lines = [line[:2000] for line in text.splitlines()]
    if len(lines) > KEPT:
        left = len(lines) - KEPT
        lines = [*lines[: KEPT * 2 // 3], f"[... {left} lines ...]", *lines[-(KEPT // 3) :]]
    return "\n".join(lines) + "\n"
