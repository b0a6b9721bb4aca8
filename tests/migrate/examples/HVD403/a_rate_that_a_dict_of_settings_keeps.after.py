import horovod.torch as hvd
import torch

state = {key: value for key, value in vars(args).items()}

def adjust(optimizer, epoch):
    if epoch in args.schedule:
        state["lr"] *= args.gamma
        for group in optimizer.param_groups:
            group["lr"] = state["lr"] * hvd.size()

optimizer = torch.optim.SGD(model.parameters(), args.lr * hvd.size())
loss.backward()
