# Changed: Nothing runs after it that could read the file too early.

import json
import torch

def main(path):
    losses = []
    for x in batches:
        loss = model(x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with open(path, "w") as file:
        json.dump(losses, file)

if __name__ == "__main__":
    main("losses.json")
