# Changed: A place for a sampler that is None; and a loader in a folder that is a package without an
# __init__.py.

import data.scans
from torch.utils.data import DataLoader

more = DataLoader(extra, shuffle=True, sampler=None)
for x in data.scans.Scans().loader:
    model(x).sum().backward()
    optimizer.step()
for x in more:
    model(x).sum().backward()
