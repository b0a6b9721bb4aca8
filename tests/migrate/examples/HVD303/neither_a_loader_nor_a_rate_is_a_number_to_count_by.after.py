from torch.utils.data import DataLoader

first, second = DataLoader(one, shuffle=True), DataLoader(two, shuffle=True)
for epoch in range(3):
    for loader in (first, second):
        first.sampler.set_epoch(first.sampler.epoch + 1)
        second.sampler.set_epoch(second.sampler.epoch + 1)
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
for rate in [0.1, 0.01]:
    first.sampler.set_epoch(first.sampler.epoch + 1)
    for x in first:
        model(x).sum().backward()
        optimizer.step()
