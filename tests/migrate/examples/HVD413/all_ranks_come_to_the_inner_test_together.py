# Changed: All ranks come to the inner test together, for the outer one is rank 0's.

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(limit):
    worse = 0
    for epoch in range(100):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if loss > limit:
            worse += 1
            if worse == 3:
                return
        elif epoch == 50:
            return

train(0.5)
