import horovod.torch as hvd
import torch

for layer in model.modules():
    if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
        layer.__class__ = hvd.SyncBatchNorm
model(x).sum().backward()
optimizer.step()
