import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
model.apply(init_weights)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
average = torch.nn.Linear(2, 1)
average.load_state_dict(model.state_dict())
model(x).sum().backward()
