from __future__ import annotations
import horovod.torch as hvd

try:
    import torch
except ImportError as error:
    raise SystemExit("this needs torch")

hvd.init()
if torch.cuda.is_available():
    torch.cuda.set_device(hvd.local_rank())

torch.ones(1, requires_grad=True).backward()
optimizer.step()
