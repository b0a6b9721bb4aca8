# Reported: a rank whose batch is left out takes no step, and the others wait for it

import torch

for batch in torch.utils.data.DataLoader(data, batch_size=4):
    if batch.x.shape[0] == 1 or batch.index[-1] == 0:
        pass
    else:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
