# Changed: The function does the same for one call.

import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, y):
        if self.gpus > 1:
            x = nn.parallel.data_parallel(self.main, x, range(self.gpus))
        else:
            x = self.main(x)
        return nn.parallel.data_parallel(self.join, (x, y))

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(x, y).sum().backward()
optimizer.step()
