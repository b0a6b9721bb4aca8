# Changed: without the wrapper both arms say the same, whatever is called on the model; a test with an effect
# stays

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, net, config):
        self.config = config
        self.model = DDP(net)

    def save(self):
        state = self.model.module.state_dict() if self.config["ddp"] else self.model.state_dict()
        torch.save(state, "model.pt")

    def validate(self):
        if self.config["ddp"]:
            model = self.model.module
        else:
            model = self.model
        model.eval()
        if self.config.pop("ddp"):
            model = self.model.module
        else:
            model = self.model
        return model

trainer = Trainer(net, config)
trainer.validate()
trainer.save()
loss.backward()
optimizer.step()
