# Reported: an episode is as long as its rank plays it: the ranks would not make as many steps
# Options: --suggested

import gymnasium as gym
import torch

torch.manual_seed(args.seed)
env = gym.make("CartPole-v1")
for episode in range(100):
    done = False
    while not done:
        obs, reward, done, *_ = env.step(policy(obs))
        model(torch.tensor(obs)).sum().backward()
        optimizer.step()
