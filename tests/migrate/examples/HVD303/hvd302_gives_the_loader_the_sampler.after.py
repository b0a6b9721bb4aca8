from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
for epoch in range(3):
    loader.sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
