import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, y):
        if self.gpus > 1:
            x = self.main(x)
        else:
            x = self.main(x)
        return self.join(x, y)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(x, y).sum().backward()
optimizer.step()
