# Changed: A rate that a dict of settings keeps is not the optimizer's.
# Options: --suggested

import torch

state = {key: value for key, value in vars(args).items()}

def adjust(optimizer, epoch):
    if epoch in args.schedule:
        state["lr"] *= args.gamma
        for group in optimizer.param_groups:
            group["lr"] = state["lr"]

optimizer = torch.optim.SGD(model.parameters(), args.lr)
loss.backward()
