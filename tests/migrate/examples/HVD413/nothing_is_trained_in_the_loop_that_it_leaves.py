# Kept: nothing is trained in the loop that it leaves

import torch

def decode(model, token):
    for _ in range(20):
        token = model(token).argmax().item()
        if token == 0:
            break
    return token

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    model(x).mean().backward()
    optimizer.step()
    decode(model, 1)
