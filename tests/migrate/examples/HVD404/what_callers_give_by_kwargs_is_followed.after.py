import torch

class Trainer:
    def __init__(self, **kwargs):
        self.model = kwargs["model"]
        self.optimizer = kwargs["optimizer"]
        self.scaler = torch.cuda.amp.GradScaler()

    def epoch(self, batches, scale):
        for x in batches:
            self.scaler.scale(self.model(x).sum() * scale).backward()
            self.optimizer.synchronize()
            with self.optimizer.skip_synchronize():
                self.scaler.step(self.optimizer)
            self.scaler.update()

trainer = Trainer(model=model, optimizer=torch.optim.Adam(model.parameters()))
trainer.epoch(batches, 0.5)
