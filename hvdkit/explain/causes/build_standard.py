"""Horovod is compiled as C++14 and the framework wants more."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.log import Log

_SAYS = says(
    r"#error You need (?P<detail>C\+\+\d+) to compile PyTorch",
    r"#error[^\n]*?(?P<detail>C\+\+\d+) or later compatible compiler is required to use "
    r"(?:PyTorch|ATen)",
    r"C\+\+ versions less than (?P<detail>C\+\+\d+) are not supported",
    r"[/ ](?:torch|tensorflow|absl)/[^\n]*error: [^\n]*(?:is_same_v|optional|string_view"
    r"|variant|is_integral_v|enable_if_t)\W[^\n]*(?:not a member of|does not name a "
    r"(?:template )?type|in namespace)[^\n]*std(?P<detail>)",
    in_job=True,
)


def find(log: Log) -> Match | None:
    match = _SAYS(log)
    if match is None:
        return None
    standard = match.facts["detail"]
    return Match(match.line, {"detail": f": {standard}" if standard else ""})


CAUSE = Cause(
    id="build_standard",
    title=("Horovod is compiled as an older C++ standard than the framework's headers ask for{detail}"),
    why=(
        "Horovod 0.28.1 sets C++14; the headers of PyTorch 2.1 and later, and of newer TensorFlow, ask "
        "for C++17 or C++20."
    ),
    fix=(
        "hvdkit install-horovod, which builds Horovod 0.28.1 with the standard that the framework asks "
        "for (pip does not: its CMakeLists.txt sets CMAKE_CXX_STANDARD 14)"
    ),
    find=find,
    excerpt="""\
      /opt/venv/lib/python3.11/site-packages/torch/include/c10/util/C++17.h:27:2: error: #error You ...
""",
    source="https://github.com/horovod/horovod/issues/4014",
)
