"""The NVIDIA driver does not fit the CUDA of the framework."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_driver",
    title="the NVIDIA driver does not fit{where}: {said}",
    why=(
        "The framework was built for a CUDA that is newer than this host's driver can run, or libraries "
        "of two driver versions are mixed after an update."
    ),
    fix=(
        "`nvidia-smi` shows the newest CUDA that the driver runs: a newer driver on that host (and a "
        "reboot after an update), or a framework that is built for an older CUDA"
    ),
    find=says(
        r"(?P<said>CUDA driver version is insufficient for CUDA runtime version)",
        r"(?P<said>The NVIDIA driver on your system is too old)",
        r"(?P<said>Driver/library version mismatch)",
        r"(?P<said>forward compatibility was attempted on non supported HW)",
        r"(?P<said>Found no NVIDIA driver on your system)",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version
""",
    on_gpu=True,
    general={"said": "it is too old"},
    source="https://github.com/horovod/horovod/issues/591",
)
