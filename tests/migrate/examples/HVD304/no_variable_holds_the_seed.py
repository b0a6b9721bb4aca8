# Reported: no variable holds the seed
# Options: --suggested

import gymnasium as gym
import torch

torch.manual_seed(1)
env = gym.make("CartPole-v1")
obs, _ = env.reset(seed=1)
for step in range(100):
    obs, reward, *_ = env.step(policy(obs))
    model(torch.tensor(obs)).sum().backward()
    optimizer.step()
