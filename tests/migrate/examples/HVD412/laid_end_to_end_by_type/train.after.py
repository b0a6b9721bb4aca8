import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters())
for x in batches:
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
