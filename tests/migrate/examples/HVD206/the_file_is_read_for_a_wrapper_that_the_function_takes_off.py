# Changed: what is loaded into a wrapper has its names, whoever wrote the file

import torch

def flow(path):
    net = torch.nn.parallel.DistributedDataParallel(Net())
    net.load_state_dict(torch.load(path, map_location="cpu"))
    net = net.module
    return net

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in data:
    model(flow("flow.pt")(x)).sum().backward()
    optimizer.step()
