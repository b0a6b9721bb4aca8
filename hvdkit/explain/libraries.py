"""What a shared library belongs to, and how it gets where the loader finds it. Decides nothing."""

from __future__ import annotations

import re

# By the start of its name: what it is part of, and how it is got. The first that fits counts.
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"libmpi(?:cxx|_cxx|fort)?\.so\.12\b|libmpich|libmpicxx",
        "MPICH or Intel MPI",
        "install it on every host (module load ..., or apt-get install libmpich12)",
    ),
    (
        r"libmpi|libopen-(?:rte|pal)|libprrte|libpmix|libmca_|liboshmem",
        "Open MPI",
        "install the same Open MPI on every host (apt-get install openmpi-bin libopenmpi-dev, module "
        "load openmpi)",
    ),
    (r"libpmi2?\b|libslurm", "Slurm", "install Slurm's client libraries on every host"),
    (
        r"libcuda\.so|libnvidia-",
        "the NVIDIA driver",
        "install the driver on the host; in a container: docker run --gpus all, or the GPU limit of the pod",
    ),
    (r"libnccl", "NCCL", "install the NCCL that Horovod was built with (apt-get install libnccl2)"),
    (
        r"libcudnn",
        "cuDNN",
        "install the cuDNN that the framework was built for (pip install nvidia-cudnn-cu12)",
    ),
    (
        r"libcud|libcu(?:blas|fft|rand|sparse|solver|pti|file)|libnv|libcusparse",
        "CUDA",
        "install the CUDA runtime of just that version, the one that the framework was built for",
    ),
    (
        r"libtorch|libc10|libshm\b",
        "PyTorch",
        "hvdkit install-horovod --rebuild: it was built for another PyTorch",
    ),
    (
        r"libtensorflow|_pywrap_tensorflow",
        "TensorFlow",
        "hvdkit install-horovod --rebuild: it was built for another TensorFlow",
    ),
    (
        r"libpython",
        "Python",
        "hvdkit install-horovod --rebuild with this Python, or put the lib folder of that Python on the path",
    ),
    (
        r"libGL\b|libgthread|libSM\b|libXext|libXrender|libX11|libglib|libEGL",
        "a display, which OpenCV asks for",
        "python -m pip install opencv-python-headless in the place of opencv-python, or apt-get install "
        "libgl1"
        " libglib2.0-0",
    ),
    (
        r"libibverbs|librdmacm|libmlx|libuc[psmt]\b|libfabric|libpsm|libefa",
        "InfiniBand's user libraries",
        "apt-get install libibverbs1 librdmacm1, or UCX and libfabric as the cluster has them",
    ),
    (r"libstdc\+\+|libgcc_s", "the C++ runtime", "apt-get install libstdc++6, or conda install libstdcxx-ng"),
    (r"libgomp", "OpenMP", "apt-get install libgomp1"),
    (r"libiomp|libmkl", "Intel's MKL", "python -m pip install mkl"),
    (r"libnuma", "libnuma", "apt-get install libnuma1"),
    (r"libsndfile", "libsndfile, which audio packages ask for", "apt-get install libsndfile1"),
)
_OTHER = ("", "install the package that holds it (apt-file search NAME, dnf provides '*/NAME')")


def belongs(library: str) -> tuple[str, str]:
    """What a library, by its name or path, is part of ("" where unknown), and how it is got."""
    name = library.rpartition("/")[2]
    what, how = next(((what, how) for start, what, how in _KNOWN if re.match(start, name)), _OTHER)
    return what, how.replace("NAME", name)
