from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
step = 0
while step < 1000:
    loader.sampler.set_epoch(loader.sampler.epoch + 1)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
        step += 1
