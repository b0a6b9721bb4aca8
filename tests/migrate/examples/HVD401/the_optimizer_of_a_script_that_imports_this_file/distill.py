import torch
from train import network

if __name__ == '__main__':
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
