import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loader = torch.utils.data.DataLoader(data, shuffle=True)
    loader.sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
