# Changed: Each pass is averaged, as DDP does; a sum of averages is the average of the sums.

import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
for i, x in enumerate(batches):
    loss = model(x).sum() / 4
    loss_scaler(loss, optimizer, need_update=(i + 1) % 4 == 0)
