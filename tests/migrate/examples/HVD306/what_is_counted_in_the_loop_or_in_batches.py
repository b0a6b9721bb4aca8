# Kept: what is counted in the loop, or in batches, is the share's already

from torch.utils.data import DataLoader

loader = DataLoader(data)
total = samples = 0
for x in loader:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    total += loss.item()
    samples += len(x)
print(total / samples, total / len(loader), count(samples) / len(others))
