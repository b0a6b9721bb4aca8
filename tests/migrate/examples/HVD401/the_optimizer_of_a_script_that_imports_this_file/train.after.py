import horovod.torch as hvd
import torch

def network():
    return torch.nn.Linear(2, 1)

if __name__ == "__main__":
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    model(x).sum().backward()
