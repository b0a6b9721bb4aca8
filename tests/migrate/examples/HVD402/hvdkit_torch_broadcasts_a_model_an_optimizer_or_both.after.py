import hvdkit.torch as hvd
import torch

def make(net):
    return torch.optim.SGD(net.parameters(), lr=0.1)

model = torch.nn.Linear(2, 1)
optimizer = make(model)
hvd.broadcast(model)
for x in torch.utils.data.DataLoader(data):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
