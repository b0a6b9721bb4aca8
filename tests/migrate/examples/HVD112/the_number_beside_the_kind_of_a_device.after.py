import argparse

import horovod.torch as hvd
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu-index", type=int, default=0)
args = parser.parse_args()

device = torch.device("cuda", index=hvd.local_rank()) if torch.cuda.is_available() else torch.device("cpu")
other = torch.device("cuda", hvd.local_rank())
model = torch.nn.Linear(2, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    model(x.to(other)).sum().backward()
    optimizer.step()
