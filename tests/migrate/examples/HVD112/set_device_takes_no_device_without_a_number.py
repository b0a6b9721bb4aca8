# Changed: set_device takes no device without a number.

import torch

def main():
    device = torch.device("cuda:0")
    torch.cuda.set_device(device)
    model(x).sum().backward()
    optimizer.step()
