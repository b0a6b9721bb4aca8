import argparse
import horovod.torch as hvd
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
        hvd.barrier()
        evaluate(model, "best.pt")
