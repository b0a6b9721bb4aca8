# Reported: clipping inside the closure would see the gradients of one rank

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def closure():
    loss = model(x).sum()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss

optimizer.step(closure)
