# Kept: each process plays for itself, since nothing seeds any random numbers

import gymnasium as gym
import torch

def train(epochs):
    env = gym.make("CartPole-v1")
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters())

    def epoch():
        played, done = [], False
        seen, _ = env.reset()
        while not done:
            action = torch.distributions.Categorical(logits=net(torch.as_tensor(seen))).sample().item()
            seen, reward, done, _, _ = env.step(action)
            played.append(torch.as_tensor(seen))
        optimizer.zero_grad()
        net(torch.stack(played)).sum().backward()
        optimizer.step()

    for _ in range(epochs):
        epoch()

train(3)
