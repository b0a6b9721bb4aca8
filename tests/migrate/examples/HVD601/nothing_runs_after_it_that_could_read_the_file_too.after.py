import json
import horovod.torch as hvd
import torch

def main(path):
    losses = []
    for x in batches:
        loss = model(x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if hvd.rank() == 0:
        with open(path, "w") as file:
            json.dump(losses, file)

if __name__ == "__main__":
    main("losses.json")
