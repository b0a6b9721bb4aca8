# Changed: The helper returns early where it is told to: what follows its call cannot count on it.

import os
import torch
from tools import start

def main():
    start()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(os.environ["RANK"])

main()
