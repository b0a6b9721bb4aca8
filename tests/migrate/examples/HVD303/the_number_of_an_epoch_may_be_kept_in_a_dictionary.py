# Changed: The number of an epoch may be kept in a dictionary or an object.

from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
for state["epoch"] in range(state["epoch"], 3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
while trainer.epoch < 9:
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
    trainer.epoch += 1
