# Reported: one call in a loop makes the loader that trains and the one that evaluates

from torch.utils.data import DataLoader

loaders = {}
for part in ("train", "test"):
    loaders[part] = DataLoader(data[part], batch_size=8, shuffle=part == "train")
for x in loaders[chosen]:
    model(x).sum().backward()
    optimizer.step()
