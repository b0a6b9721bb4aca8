# Changed: The command that the package installs calls the function, not the file.

import torch

def main():
    """Train."""
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(data):
        model(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
