# Changed: A function is told by a constant which loader it makes.

from torch.utils.data import DataLoader

def batches(data, train, size=8):
    return DataLoader(data, batch_size=size, shuffle=train, drop_last=train)

def of(part, whole=True):
    return DataLoader(sets[part], shuffle=True)

loader = batches(data, train=True)
test = batches(rest, train=False)
parts = Parts()
parts.fit = of("fit", whole=False)
parts.test = of("test")
for x in loader:
    model(x).backward()
    optimizer.step()
for x in parts.fit:
    model(x).backward()
    optimizer.step()
for x in (*test, *parts.test):
    print(model(x))
