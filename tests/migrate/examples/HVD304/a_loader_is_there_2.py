# Reported: a loader is there, and whether it is this one could not be followed

from torch.utils.data import DataLoader

setattr(state, "loader", DataLoader(data, shuffle=True))
for x in state.loader:
    model(x).sum().backward()
    optimizer.step()
