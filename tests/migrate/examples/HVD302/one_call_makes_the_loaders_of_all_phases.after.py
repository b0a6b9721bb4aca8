import horovod.torch as hvd
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

loaders = {phase: DataLoader(data[phase], shuffle=phase != "train", sampler=DistributedSampler(data[phase], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if phase == "train" else None) for phase in ("train", "val")}
rest = {p: DataLoader(more[p], batch_size=8, sampler=DistributedSampler(more[p], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if p == "train" else None) for p in ("train", "val")}
parts = {}
for part in ("fit", "test"):
    parts[part] = DataLoader(sets[part], sampler=DistributedSampler(sets[part], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False) if part == "fit" else None)
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
