# Changed: On the line of its block.

import torch
from apex import amp

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    with amp.scale_loss(model(x).sum(), optimizer) as loss: loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
    optimizer.step()
