# Reported: the same, where apex had it first

import torch
from apex.optimizers import FP16_Optimizer, FusedAdam

optimizer = FusedAdam(model.parameters(), lr=0.1)
if args.loss_scale == 0:
    optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
else:
    optimizer = FP16_Optimizer(optimizer, static_loss_scale=args.loss_scale)
optimizer.backward(model(x).sum())
optimizer.step()
