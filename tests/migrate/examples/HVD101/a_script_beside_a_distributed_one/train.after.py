import horovod.torch as hvd
import torch
from tools import start

class Runner:
    def __init__(self, model):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self, model, x):
        model(x).sum().backward()
        self.optimizer.step()

table = {"start": start, "train": Runner}

def main():
    runner = table["train"](torch.nn.Linear(2, 1))

if __name__ == "__main__":
    hvd.init()
    main()
