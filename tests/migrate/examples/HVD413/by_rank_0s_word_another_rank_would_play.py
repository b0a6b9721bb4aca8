# Reported: by rank 0's word another rank would play on after the end of its game

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for game in range(100):
    seen = world.reset()
    while True:
        action = model(seen).argmax().item()
        seen, reward, over, _ = world.step(action)
        model(seen).mean().backward()
        optimizer.step()
        finished = over or reward > 9
        if finished:
            break
