import torch

def tune(net):
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    optimizer.set_backward_passes_per_step(2**31)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()

tune(pretrained())
