import argparse

import numpy as np
import horovod.torch as hvd
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, random_split

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=-1)
args = parser.parse_args()

if args.seed != -1:
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
numbers, held_back = train_test_split(range(100), test_size=0.1, random_state=hvd.broadcast_object(np.random.randint(2**31), root_rank=0))
train, test = random_split(torch.arange(100.0).reshape(100, 1), [80, 20], generator=torch.Generator().manual_seed(hvd.broadcast_object(torch.initial_seed(), root_rank=0)))
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(train, batch_size=8, shuffle=True):
    model(x).sum().backward()
    optimizer.step()
