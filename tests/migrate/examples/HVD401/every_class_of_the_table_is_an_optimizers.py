# Changed: Every class of the table is an optimizer's.

import torch

OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}

def make(config, net):
    params = []
    for name, weight in net.named_parameters():
        if weight.requires_grad:
            params += [{"params": [weight], "lr": config.lr}]
    optimizer = OPTIMIZERS[config.optimizer](params, config.lr)
    return optimizer

optimizer = make(config, model)
model(x).sum().backward()
optimizer.step()
