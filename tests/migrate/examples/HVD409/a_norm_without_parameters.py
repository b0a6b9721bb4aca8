# Reported: a norm without parameters: timm would clip nothing, or fail

import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
loss_scaler(loss, optimizer, clip_grad=1.0)
