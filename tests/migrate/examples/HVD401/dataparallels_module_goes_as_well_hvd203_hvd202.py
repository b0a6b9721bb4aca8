# Changed: DataParallel's .module goes as well (HVD203, HVD202).

import torch

net = torch.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)))
optimizer = torch.optim.SGD(net.module[0].parameters(), lr=0.1)
optimizer.add_param_group({"params": net.module[1].parameters(), "lr": 0.2})
for x in batches:
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
