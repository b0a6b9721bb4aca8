# Changed: A script that trains without the job of another: it never comes to what sets the device.

import tools
import torch

def main():
    model = tools.wrap(torch.nn.Linear(2, 1), False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    main()
