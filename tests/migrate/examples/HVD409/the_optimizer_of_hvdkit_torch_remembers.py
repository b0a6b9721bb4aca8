# Changed: The optimizer of hvdkit.torch remembers that it has reduced.
# Options: --target hvdkit

import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
loss = model(x).sum()
loss_scaler(loss, optimizer, clip_grad=None, parameters=model.parameters())
