# Changed: And above what runs the project's own code, which may ask for its rank.

import torch
from model import make

net = make()
from data import batches

for x in batches:
    net(x).backward()
    optimizer.step()
