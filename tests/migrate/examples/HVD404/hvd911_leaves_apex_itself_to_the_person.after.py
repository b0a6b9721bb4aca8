import torch
from apex import amp

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer)
for x in batches:
    optimizer.zero_grad()
    with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
        scaled_loss.backward()
        optimizer.synchronize()
    with optimizer.skip_synchronize():
        optimizer.step()
