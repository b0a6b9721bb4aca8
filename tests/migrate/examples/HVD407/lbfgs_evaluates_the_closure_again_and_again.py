# Reported: LBFGS evaluates the closure again and again, each time with gradients of its own

import torch

optimizer = torch.optim.LBFGS(model.parameters())

def closure():
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    return loss

optimizer.step(closure)
