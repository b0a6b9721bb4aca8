import horovod.torch as hvd
import torch

def build(args):
    model = torch.nn.Linear(2, 1)
    if args.compile:
        model = torch.compile(model)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    return torch.optim.SGD(model.parameters(), lr=args.lr)

optimizer, loader = build(args), torch.utils.data.DataLoader(data)
for x in loader:
    optimizer.zero_grad()
    loss(x).backward()
    optimizer.step()
