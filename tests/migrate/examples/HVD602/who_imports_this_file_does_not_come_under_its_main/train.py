# Changed: Who imports this file does not come under its main guard.

import torch

def network():
    return torch.nn.Linear(2, 1)

if __name__ == "__main__":
    print("training")
    loss.backward()
    optimizer.step()
