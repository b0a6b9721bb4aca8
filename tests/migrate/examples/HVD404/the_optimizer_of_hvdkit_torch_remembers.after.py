import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.scaler = torch.cuda.amp.GradScaler()

    def train(self, batches):
        for x in batches:
            self.scaler.scale(self.model(x).sum()).backward()
            self.optimizer.synchronize()
            self.scaler.step(self.optimizer)
            self.scaler.update()
