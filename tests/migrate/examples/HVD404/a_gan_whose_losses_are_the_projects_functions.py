# Changed: A GAN whose losses are the project's functions: a model that one of them calls is waited for once
# too often rather than once too seldom.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

gen = DDP(torch.nn.Linear(2, 2))
dis = DDP(torch.nn.Linear(2, 1))
gen_opt = torch.optim.Adam(gen.parameters())
dis_opt = torch.optim.Adam(dis.parameters())

def score(x):
    return dis(x).mean()

def dis_loss(real):
    fake = gen(real).detach()
    return score(real) - score(fake.data)

def gen_loss(real):
    return score(gen(real))

for real in batches:
    dis_opt.zero_grad()
    torch.autograd.backward(dis_loss(real))
    dis_opt.step()
    gen_opt.zero_grad()
    gen_loss(real).backward()
    gen_opt.step()
