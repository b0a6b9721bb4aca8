"""CUDA is looked for in folders that look like the real ones; nothing here needs a GPU or a toolkit."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.install import cuda
from hvdkit.install.errors import CudaError
from hvdkit.install.frameworks import Framework
from tests.install import plans

NCCL_HEADER = "#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 3\n"


@pytest.fixture
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Framework:
    """A CUDA build of torch in site-packages, on a machine with neither driver nor toolkit."""
    monkeypatch.setattr(cuda, "_DRIVER", tmp_path / "no-driver")
    monkeypatch.setattr(cuda, "_SYSTEM_HOME", tmp_path / "no-toolkit")
    root = tmp_path / "site-packages" / "torch"
    root.mkdir(parents=True)
    return replace(plans.TORCH, root=root, cuda="13.0", gpus=("sm_90", "sm_80", "sm_100a"))


def toolkit(home: Path, release: str = "13.0") -> Path:
    """A CUDA home whose nvcc tells its release."""
    for part in ("bin", "include", "nvvm", "lib"):
        (home / part).mkdir(parents=True)
    nvcc = home / "bin" / "nvcc"
    nvcc.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.48'\n")
    nvcc.chmod(0o755)
    return home


def nccl(home: Path) -> Path:
    (home / "include").mkdir(parents=True, exist_ok=True)
    (home / "include" / "nccl.h").write_text(NCCL_HEADER)
    return home


def test_a_cpu_framework_gets_no_cuda(tmp_path: Path) -> None:
    environment = {"HOROVOD_CUDA_HOME": str(toolkit(tmp_path / "cuda")), "PATH": ""}
    assert cuda.look((plans.TORCH,), environment) is None


def test_a_cuda_framework_without_toolkit_or_driver_computes_on_the_cpu(torch: Framework) -> None:
    assert cuda.look((torch,), {"PATH": ""}) is None


def test_a_driver_without_a_toolkit_is_an_error(torch: Framework, tmp_path: Path) -> None:
    (tmp_path / "no-driver").touch()
    with pytest.raises(CudaError, match="there is no nvcc") as caught:
        cuda.look((torch,), {"PATH": ""})
    assert "nvidia-cuda-nvcc==13.0.*" in caught.value.fix


def test_a_system_toolkit(torch: Framework, tmp_path: Path) -> None:
    home = nccl(toolkit(tmp_path / "cuda"))
    found = cuda.look((torch,), {"PATH": str(home / "bin")})
    assert found == cuda.Cuda(home, "13.0", home, "2.27.3", ("80", "90", "100"))


def test_a_script_on_the_path_that_starts_the_nvcc_of_a_toolkit(torch: Framework, tmp_path: Path) -> None:
    home = nccl(toolkit(tmp_path / "cuda-13.0"))
    real = home / "bin" / "nvcc"
    answer = f'case "$1" in -v) echo "#\\$ TOP={home}/bin/.." >&2; exit 1;; esac\n'
    real.write_text(real.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{answer}"))
    script = tmp_path / "bin" / "nvcc"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    script.chmod(0o755)
    found = cuda.look((torch,), {"PATH": str(script.parent)})
    assert found is not None
    assert found.home == home


def test_python_packages(torch: Framework, tmp_path: Path) -> None:
    packages = torch.root.parent / "nvidia"
    home, nccl_home = toolkit(packages / "cu13"), nccl(packages / "nccl")
    found = cuda.look((torch,), {"PATH": ""})
    assert found is not None
    assert (found.home, found.nccl) == (home, nccl_home)


def test_the_folder_that_is_named_comes_first(torch: Framework, tmp_path: Path) -> None:
    toolkit(torch.root.parent / "nvidia" / "cu13")
    named, nccl_home = toolkit(tmp_path / "named"), nccl(tmp_path / "nccl")
    environment = {"PATH": "", "HOROVOD_CUDA_HOME": str(named), "HOROVOD_NCCL_HOME": str(nccl_home)}
    found = cuda.look((torch,), environment)
    assert found is not None
    assert (found.home, found.nccl) == (named, nccl_home)


def test_another_major_than_the_frameworks_is_an_error(torch: Framework, tmp_path: Path) -> None:
    home = nccl(toolkit(tmp_path / "cuda", release="12.4"))
    with pytest.raises(CudaError, match=r"is CUDA 12\.4, torch is built for CUDA 13\.0"):
        cuda.look((torch,), {"PATH": str(home / "bin")})


def test_cuda_without_nccl_is_an_error(
    torch: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = toolkit(tmp_path / "cuda")
    monkeypatch.setattr(cuda, "_SYSTEM_PREFIX", tmp_path)
    with pytest.raises(CudaError, match=r"nccl\.h is missing"):
        cuda.look((torch,), {"PATH": str(home / "bin")})


def test_packages_are_completed_for_the_linker(torch: Framework, tmp_path: Path) -> None:
    packages = torch.root.parent / "nvidia"
    toolkit(packages / "cu13")
    nccl(packages / "nccl")
    for library in ("cu13/lib/libcudart.so.13", "nccl/lib/libnccl.so.2"):
        (packages / library).parent.mkdir(parents=True, exist_ok=True)
        (packages / library).write_text("library")
    found = cuda.look((torch,), {"PATH": ""})
    assert found is not None
    folder = tmp_path / "scratch"
    folder.mkdir()
    home, nccl_home = cuda.complete(found, folder, "g++")
    assert (home / "lib64" / "libcudart.so").read_text() == "library"
    assert (nccl_home / "lib" / "libnccl.so").read_text() == "library"
    # nvcc finds its toolkit beside itself, links resolved.
    assert (home / "bin" / "nvcc").resolve().parent == home / "bin"
    stub = home / "lib64" / "stubs" / "libcuda.so"
    dynamic = subprocess.run(["readelf", "-d", str(stub)], capture_output=True, text=True, check=True).stdout
    assert "Library soname: [libcuda.so.1]" in dynamic


def test_a_system_toolkit_is_used_as_it_is(torch: Framework, tmp_path: Path) -> None:
    home = nccl(toolkit(tmp_path / "cuda"))
    (home / "lib64").symlink_to("lib")
    found = cuda.look((torch,), {"PATH": str(home / "bin")})
    assert found is not None
    assert cuda.complete(found, tmp_path, "g++") == (home, home)


def test_a_system_toolkit_with_the_package_of_nccl(torch: Framework, tmp_path: Path) -> None:
    home = toolkit(tmp_path / "cuda-13")
    (home / "lib64").symlink_to("lib")
    package = nccl(torch.root.parent / "nvidia" / "nccl")
    (package / "lib").mkdir()
    (package / "lib" / "libnccl.so.2").write_text("library")
    found = cuda.look((torch,), {"PATH": str(home / "bin")})
    assert found is not None
    completed, nccl_home = cuda.complete(found, tmp_path, "g++")
    assert completed == home
    assert (nccl_home / "lib" / "libnccl.so").read_text() == "library"
