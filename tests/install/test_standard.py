from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.install import frameworks, standard
from hvdkit.install.errors import CompilerError
from tests.install import plans

HEADERS = {
    # As PyTorch shipped them: release -> (first lines of torch/all.h, a line of TorchConfig.cmake).
    "1.13.1": ("#error C++14 or later compatible compiler is required to use PyTorch.", "CXX_STANDARD 14"),
    "2.1.0": ("#error C++17 or later compatible compiler is required to use PyTorch.", "CXX_STANDARD 17"),
    "2.13.0": ("#error C++17 or later compatible compiler is required to use PyTorch.", "CXX_STANDARD 20"),
}


def torch_with(folder: Path, error: str, cmake: str = "") -> frameworks.Framework:
    for name, text in {
        "include/torch/csrc/api/include/torch/all.h": f"#if __cplusplus < 1L\n{error}\n#endif\n",
        "share/cmake/Torch/TorchConfig.cmake": f"set_target_properties(torch PROPERTIES\n    {cmake}\n)\n",
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    return replace(plans.TORCH, root=folder)


@pytest.mark.parametrize(("release", "expected"), [("1.13.1", 14), ("2.1.0", 17), ("2.13.0", 20)])
def test_torch_says_it_in_its_headers_and_its_cmake_package(
    tmp_path: Path, release: str, expected: int
) -> None:
    found = torch_with(tmp_path, *HEADERS[release])
    assert standard.highest(standard.demands((found,))) == expected


def test_an_error_line_alone_decides_where_the_cmake_package_is_silent(tmp_path: Path) -> None:
    found = torch_with(tmp_path, "#error You need C++23 to compile PyTorch")
    asked = standard.demands((found,))
    assert standard.highest(asked) == 23
    assert "torch/all.h" in asked[-1].source


def test_error_lines_about_other_things_ask_for_nothing(tmp_path: Path) -> None:
    found = torch_with(tmp_path, "#error You need a 64-bit compiler to use PyTorch")
    assert standard.highest(standard.demands((found,))) == standard.HOROVOD_STANDARD


@pytest.mark.parametrize(
    ("flag", "expected"), [("--std=c++17", 17), ("-std=gnu++20", 20), ("-std=c++2a", 20), ("-DX=c++23", 14)]
)
def test_tensorflow_says_it_in_its_compile_flags(flag: str, expected: int) -> None:
    found = replace(plans.TENSORFLOW, flags=("-D_GLIBCXX_USE_CXX11_ABI=1", flag))
    assert standard.highest(standard.demands((found,))) == expected


def test_the_most_demanding_framework_wins(tmp_path: Path) -> None:
    both = (torch_with(tmp_path, *HEADERS["2.13.0"]), plans.TENSORFLOW)
    assert [demand.standard for demand in standard.demands(both)] == [14, 17, 20, 17]
    assert standard.highest(standard.demands(both)) == 20


def test_the_installed_torch_is_read() -> None:
    found = frameworks.ask("torch")
    assert found is not None
    sources = [demand.source for demand in standard.demands((found,))]
    assert any("ATen.h" in source for source in sources), sources
    assert any("TorchConfig.cmake" in source for source in sources), sources


def test_a_compiler_that_does_not_know_the_standard_is_named() -> None:
    standard.check_compiler("g++", 14)
    with pytest.raises(CompilerError, match=r"g\+\+ does not support C\+\+99") as caught:
        standard.check_compiler("g++", 99)
    assert "CXX=" in caught.value.fix
