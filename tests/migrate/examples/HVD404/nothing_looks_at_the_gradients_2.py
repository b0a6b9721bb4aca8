# Kept: nothing looks at the gradients: step() reduces them

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
