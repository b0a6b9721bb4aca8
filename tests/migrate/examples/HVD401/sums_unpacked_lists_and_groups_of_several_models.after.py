import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

encoder = DDP(torch.nn.Linear(2, 2))
decoder = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=[*decoder.named_parameters(prefix="decoder"), *encoder.named_parameters(prefix="encoder")])
critic = DDP(torch.nn.Linear(2, 1))
other = torch.optim.SGD([*critic.parameters()], lr=0.1)
other = hvd.DistributedOptimizer(other, named_parameters=critic.named_parameters(prefix="critic"))
