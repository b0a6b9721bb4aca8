import horovod.torch as hvd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, waited = 1e9, 0
for epoch in range(100):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if loss.item() < best:
        best, waited = loss.item(), 0
    else:
        waited += 1
    if hvd.broadcast_object(bool(waited > 5), root_rank=0):
        break
