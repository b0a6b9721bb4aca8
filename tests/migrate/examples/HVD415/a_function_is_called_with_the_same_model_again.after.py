import torch

def run(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    optimizer.set_backward_passes_per_step(2**31)
    return model(batches[0]).sum()

model = torch.nn.Linear(2, 1)
for fold in folds:
    model.reset_parameters()
    print(run(model, fold))
