# Reported: rank 0 may come to the second limit, and another rank not

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train():
    for epoch in range(100):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        for limit in limits:
            if loss < limit:
                return

train()
