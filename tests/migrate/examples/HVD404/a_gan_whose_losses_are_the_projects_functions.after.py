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
    dis_opt.synchronize()
    gen_opt.synchronize()
    with dis_opt.skip_synchronize():
        dis_opt.step()
    gen_opt.zero_grad()
    gen_loss(real).backward()
    dis_opt.synchronize()
    gen_opt.synchronize()
    with gen_opt.skip_synchronize():
        gen_opt.step()
