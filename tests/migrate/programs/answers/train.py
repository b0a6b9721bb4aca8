"""Writes what it answers after each epoch, and reads the file again, which must be whole then."""

import argparse
import os

import torch
from torch.utils.data import DataLoader, TensorDataset


def read(path):
    with open(path) as file:  # noqa: PTH123
        return [float(line) for line in file]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    args = parser.parse_args()
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(8.0).reshape(8, 1), torch.arange(8.0).reshape(8, 1) * 2)
    loader = DataLoader(data, batch_size=4, shuffle=True)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(20):
        for x, y in loader:
            optimizer.zero_grad()
            (model(x) - y).pow(2).mean().backward()
            optimizer.step()
        answers = []
        with open(args.folder + "/answers.txt", "w") as file:  # noqa: PTH123
            for number in range(1000):
                answers.append(model(torch.tensor([float(number)])).item())
                file.write(f"{answers[-1]}\n")
        assert read(os.path.join(args.folder, "answers.txt")) == answers  # noqa: PTH118


if __name__ == "__main__":
    main()
