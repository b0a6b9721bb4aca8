# Kept: the function makes the model, too

import torch

def run(seed, batches):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

for seed in range(3):
    run(seed, batches)
