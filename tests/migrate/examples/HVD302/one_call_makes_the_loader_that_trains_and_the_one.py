# Reported: one call makes the loader that trains and the one that evaluates: which trains is not known

from torch.utils.data import DataLoader

loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in phases}
for phase in phases:
    for x in loaders[phase]:
        loss = model(x)
        if trains(phase):
            loss.backward()
            optimizer.step()
