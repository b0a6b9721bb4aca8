"""Builds Horovod against the frameworks of this environment, keeps the wheel, and proves the result.

Horovod's last release predates the C++ standard that today's PyTorch asks for. It is built as released,
without a patch: everything that has to differ is handed to CMake from outside (see toolchain.py).
"""

HOROVOD_VERSION = "0.28.1"
