# Changed: Below the last import, wherever it stands.

from __future__ import annotations

try:
    import torch
except ImportError as error:
    raise SystemExit("this needs torch")

torch.ones(1, requires_grad=True).backward()
optimizer.step()
