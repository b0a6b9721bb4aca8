import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
loss_scaler = NativeScaler()
loss = model(x).sum()
loss_scaler._scaler.scale(loss).backward()
optimizer.synchronize()
with optimizer.skip_synchronize():
    loss_scaler._scaler.step(optimizer)
loss_scaler._scaler.update()
loss_scaler._scaler.scale(loss).backward()
optimizer.synchronize()
loss_scaler._scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
with optimizer.skip_synchronize():
    loss_scaler._scaler.step(optimizer)
loss_scaler._scaler.update()
