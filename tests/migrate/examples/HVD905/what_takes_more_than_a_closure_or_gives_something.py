# Kept: what takes more than a closure, or gives something back, is a sampler or an environment

import torch
from somewhere import environment, make_sampler
from torch.nn.parallel import DistributedDataParallel as DDP

student, teacher = DDP(torch.nn.Linear(2, 1)), DDP(torch.nn.Conv1d(2, 1, 1))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
sampler = make_sampler()
observation, reward = environment.step(sampler.step(teacher(x), t, x)["prev_sample"])
student(observation).sum().backward()
optimizer.step()
