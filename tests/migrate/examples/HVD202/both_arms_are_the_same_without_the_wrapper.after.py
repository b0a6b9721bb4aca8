import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, net, config):
        self.config = config
        self.model = DDP(net)

    def save(self):
        state = self.model.state_dict()
        torch.save(state, "model.pt")

    def validate(self):
        model = self.model
        model.eval()
        if self.config.pop("ddp"):
            model = self.model
        else:
            model = self.model
        return model

trainer = Trainer(net, config)
trainer.validate()
trainer.save()
loss.backward()
optimizer.step()
