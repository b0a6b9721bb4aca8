import torch

import train

net = train.Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data, batch_size=4, shuffle=True):
    net(x).sum().backward()
    optimizer.step()
