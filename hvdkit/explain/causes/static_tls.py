"""A library was loaded too late for its thread-local memory."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="static_tls",
    title="{library} was loaded too late{where}: no room for its thread-local memory",
    why=(
        "Some libraries, mostly libgomp on ARM, need memory that the loader reserves at the start; what was"
        " imported before has used it up."
    ),
    fix="load it first on all ranks: export LD_PRELOAD={library}; or import that package before all others",
    find=says(
        r"(?<![^\s:])(?P<library>[^\s:]+\.so[\d.]*): cannot allocate memory in static TLS block",
        in_job=True,
    ),
    excerpt="""\
ImportError: /usr/lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block
""",
    source="https://github.com/NVIDIA-AI-IOT/trt_pose/issues/111",
    general={"library": "libgomp.so.1"},
)
