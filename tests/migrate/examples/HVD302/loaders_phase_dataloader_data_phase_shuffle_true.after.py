import hvdkit.torch as hvd
from torch.utils.data import DataLoader

loaders = {phase: hvd.distribute(DataLoader(data[phase], shuffle=True)) if phase == "train" else DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
for phase in ("train", "val"):
    for x in loaders[phase]:
        loss = model(x)
        if phase == "train":
            loss.backward()
            optimizer.step()
