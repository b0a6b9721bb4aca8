# Changed: The optimizer of a script that imports this file is never made in one run with it.

import torch

def network():
    return torch.nn.Linear(2, 1)

if __name__ == "__main__":
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
