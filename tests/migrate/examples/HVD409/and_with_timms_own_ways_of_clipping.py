# Changed: ... and with timm's own ways of clipping.

import torch
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel

def train(model, optimizer, clip_grad, clip_mode):
    scaler = NativeScaler()
    loss = model(x).sum()
    scaler(loss, optimizer, clip_grad=clip_grad, clip_mode=clip_mode, parameters=model.parameters())

model = DistributedDataParallel(torch.nn.Linear(2, 1))
train(model, torch.optim.AdamW(model.parameters()), 0.01, "agc")
