from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, data):
        self.loaders = {part: DataLoader(data[part], shuffle=True) for part in ("train", "val")}

    def fit(self):
        for epoch in range(3):
            self.loaders["train"].sampler.set_epoch(epoch)
            for phase in ("train", "val"):
                batches = self.loaders[phase]
                for x in batches:
                    loss = model(x).sum()
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
