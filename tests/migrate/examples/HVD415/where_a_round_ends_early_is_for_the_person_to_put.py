# Reported: where a round ends early is for the person to put the line

import torch

model = torch.nn.Linear(2, 1)
for run in range(10):
    model.reset_parameters()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    if run < 5:
        continue
    print(test(model))
