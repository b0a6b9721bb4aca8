# Changed: A function is called with the same model again.

import torch

def run(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    return model(batches[0]).sum()

model = torch.nn.Linear(2, 1)
for fold in folds:
    model.reset_parameters()
    print(run(model, fold))
