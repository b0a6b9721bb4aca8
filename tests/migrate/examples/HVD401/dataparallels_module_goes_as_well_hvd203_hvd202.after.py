import horovod.torch as hvd
import torch

net = torch.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)))
optimizer = torch.optim.SGD(net.module[0].parameters(), lr=0.1)
optimizer.add_param_group({"params": net.module[1].parameters(), "lr": 0.2})
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=[*net[0].named_parameters(prefix="net[0]"), *net[1].named_parameters(prefix="net[1]")])
for x in batches:
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
