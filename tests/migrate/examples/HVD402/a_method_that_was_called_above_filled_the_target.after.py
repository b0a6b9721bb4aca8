import horovod.torch as hvd
import torch

def move(target, source, rate):
    for old, new in zip(target.parameters(), source.parameters()):
        old.data.copy_(rate * new.data + (1.0 - rate) * old.data)

class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)
        self.target = torch.nn.Linear(2, 1)
        self.slow = torch.nn.Linear(2, 1)
        self.sync()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        hvd.broadcast_parameters(self.net.state_dict(), root_rank=0)
        hvd.broadcast_parameters(self.target.state_dict(), root_rank=0)
        hvd.broadcast_parameters(self.slow.state_dict(), root_rank=0)

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())
        move(self.slow, self.net, 1.0)

agent = Agent()
agent.net(x).sum().backward()
