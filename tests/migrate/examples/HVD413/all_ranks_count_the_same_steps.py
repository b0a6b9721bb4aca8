# Kept: all ranks count the same steps

import torch

loader = torch.utils.data.DataLoader(samples)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step = 0
for epoch in range(100):
    for number in range(len(loader)):
        if number < args.first:
            continue
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        step += 1
        if step >= args.max_steps:
            break
