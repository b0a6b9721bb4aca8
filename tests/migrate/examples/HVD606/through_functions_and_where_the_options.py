# Changed: Through functions, and where the options, which are the same on all ranks, say so.

import argparse
import torch

class Best:
    def __call__(self, model, path):
        torch.save(model.state_dict(), path)

def evaluate(model, path):
    model.load_state_dict(torch.load(path))

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
    best = Best()
    for epoch in range(3):
        loss.backward()
        optimizer.step()
        best(model, "best.pt")
    if args.evaluate:
        evaluate(model, "best.pt")
