import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
for i, x in enumerate(batches):
    loss = model(x).sum() / 4
    loss_scaler._scaler.scale(loss).backward()
    optimizer.synchronize()
    if (i + 1) % 4 == 0:
        with optimizer.skip_synchronize():
            loss_scaler._scaler.step(optimizer)
        loss_scaler._scaler.update()
