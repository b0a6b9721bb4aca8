# Reported: of seven cases one of two ranks has four: it would wait for the other one for ever

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Predictor:
    def __init__(self, network):
        self.network = network

    def predict(self, case):
        self.network.eval()
        return self.network(case)

dist.init_process_group("nccl")
model = DDP(torch.nn.BatchNorm1d(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
predictor = Predictor(model)
cases = cases[dist.get_rank() :: dist.get_world_size()]
for case in cases:
    predictor.predict(case)
