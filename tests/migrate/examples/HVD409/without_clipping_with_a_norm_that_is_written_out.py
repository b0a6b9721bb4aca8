# Changed: Without clipping; with a norm that is written out.

import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
loss = model(x).sum()
loss_scaler(loss, optimizer)
loss_scaler(loss, optimizer=optimizer, clip_grad=1.0, parameters=model.parameters())
