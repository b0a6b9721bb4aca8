import horovod.torch as hvd
import torch

def load(path):
    if path.exists():
        model = Net(torch.load(path))
    else:
        model = None
    return model

model = load(path)
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
model(x).sum().backward()
