# Changed: 1000 apart, since a vector of environments takes the seeds that follow, too.
# Options: --suggested

import random

import gymnasium as gym
import torch

random.seed(args.seed)
torch.manual_seed(args.seed)
env = gym.make("CartPole-v1")
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
obs, _ = env.reset(seed=args.seed)
for step in range(100):
    obs, reward, *_ = env.step(random.randrange(2))
    model(torch.tensor(obs)).sum().backward()
    optimizer.step()
