# Changed.
# Options: --target hvdkit

from torch.utils.data import DataLoader

loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
for phase in ("train", "val"):
    for x in loaders[phase]:
        loss = model(x)
        if phase == "train":
            loss.backward()
            optimizer.step()
