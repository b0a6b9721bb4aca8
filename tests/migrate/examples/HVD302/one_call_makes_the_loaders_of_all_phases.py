# Changed: One call makes the loaders of all phases: that of the phase which trains is shared out.

from torch.utils.data import DataLoader

loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
rest = {p: DataLoader(more[p], batch_size=8, shuffle=p == "train") for p in ("train", "val")}
parts = {}
for part in ("fit", "test"):
    parts[part] = DataLoader(sets[part])
for phase in ("train", "val"):
    training = phase == "train"
    for x in loaders[phase]:
        loss = model(x)
        if training:
            loss.backward()
            optimizer.step()
    for x in rest[phase]:
        loss = model(x)
        if phase == "train":
            loss.backward()
            optimizer.step()
for x in parts["fit"]:
    model(x).backward()
    optimizer.step()
