# Changed: A rate that is set again is scaled there, too: nothing in the script asks for the one before.
# Options: --suggested

import torch

def adjust(optimizer, epoch):
    lr = args.lr * 0.1 ** (epoch // 30)
    for group in optimizer.param_groups:
        group["lr"] = lr

optimizer = torch.optim.SGD(model.parameters(), args.lr)
loss.backward()
