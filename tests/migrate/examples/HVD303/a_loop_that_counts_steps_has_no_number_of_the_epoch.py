# Changed: A loop that counts steps has no number of the epoch; the sampler keeps its own.

from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
step = 0
while step < 1000:
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
        step += 1
