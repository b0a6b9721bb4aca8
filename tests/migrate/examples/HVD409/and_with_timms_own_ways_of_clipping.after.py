import torch
from timm.utils import NativeScaler, dispatch_clip_grad
from torch.nn.parallel import DistributedDataParallel

def train(model, optimizer, clip_grad, clip_mode):
    scaler = NativeScaler()
    loss = model(x).sum()
    scaler._scaler.scale(loss).backward()
    optimizer.synchronize()
    if clip_grad is not None:
        scaler._scaler.unscale_(optimizer)
        dispatch_clip_grad(model.parameters(), clip_grad, mode=clip_mode)
    with optimizer.skip_synchronize():
        scaler._scaler.step(optimizer)
    scaler._scaler.update()

model = DistributedDataParallel(torch.nn.Linear(2, 1))
train(model, torch.optim.AdamW(model.parameters()), 0.01, "agc")
