import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
if args.adam:
    optimizer = torch.optim.Adam(model.parameters())
for x in batches:
    model.zero_grad()
    model(x).sum().backward()
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if args.adam:
        optimizer.step()
    else:
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-args.lr)
