import horovod.torch as hvd
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1)
        self.reset()
        hvd.broadcast_parameters(self.head.state_dict(), root_rank=0)

    def reset(self):
        for p in self.parameters():
            torch.nn.init.normal_(p)

net = Net()
net.head(x).sum().backward()
