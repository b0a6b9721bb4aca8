# Changed: An object of the script's own around the loader has no sampler; what it keeps has.

from torch.utils.data import DataLoader

class OnDevice:
    def __init__(self, loader, device):
        self.loader, self.device = loader, device

    def __iter__(self):
        for x in self.loader:
            yield x.to(self.device)

batches = DataLoader(data, shuffle=True)
batches = OnDevice(batches, device)
for epoch in range(3):
    for x in batches:
        model(x).sum().backward()
        optimizer.step()
