import torch

class Passes:
    def __init__(self, model, scaler):
        self.model, self.scaler, self.made = model, scaler, None

    def run(self, x):
        self.scaler.scale(self.model(x).sum()).backward()

    def optimized(self, function):
        return function

    @property
    def train(self):
        if self.made is None:
            self.made = self.optimized(self.run)
        return self.made

class Trainer:
    def __init__(self, model, passes):
        self.passes = passes
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, x):
        self.passes.train(x)
        self.optimizer.synchronize()
        with self.optimizer.skip_synchronize():
            self.passes.scaler.step(self.optimizer)

model = torch.nn.Linear(2, 1)
trainer = Trainer(model, Passes(model, torch.amp.GradScaler("cuda")))
for x in batches:
    trainer.step(x)
