import horovod.torch as hvd
import torch

def adjust(optimizer, epoch):
    lr = args.lr * 0.1 ** (epoch // 30)
    for group in optimizer.param_groups:
        group["lr"] = lr * hvd.size()

optimizer = torch.optim.SGD(model.parameters(), args.lr * hvd.size())
loss.backward()
