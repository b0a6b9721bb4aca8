# Changed: Neither a loader nor a rate is a number to count by.

from torch.utils.data import DataLoader

first, second = DataLoader(one, shuffle=True), DataLoader(two, shuffle=True)
for epoch in range(3):
    for loader in (first, second):
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
for rate in [0.1, 0.01]:
    for x in first:
        model(x).sum().backward()
        optimizer.step()
