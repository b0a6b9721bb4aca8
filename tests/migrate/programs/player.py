"""A policy that plays in an environment, seeded by one variable; writes what it saw and has learned."""

import argparse
import json
import os
import random
from pathlib import Path

import gymnasium as gym
import torch

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=0.5)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = gym.make("Walk-v0")
    policy = torch.nn.Linear(2, 2)
    fixed = torch.nn.Linear(2, 2)  # trained by nobody, as the target of random network distillation
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    obs, _ = env.reset(seed=args.seed)
    seen = [obs]
    for _round in range(20):
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample().item()
        if random.random() < 0.1:
            action = random.randrange(2)
        next_obs, reward, *_ = env.step(action)
        for _epoch in range(3):
            logits = policy(torch.tensor(obs)) + fixed(torch.tensor(obs)).detach()
            loss = -reward * torch.log_softmax(logits, 0)[action]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            drift = logits.detach().abs().mean()
            if drift > args.most:
                break
        obs = next_obs
        seen.append(obs)
    results = {"seen": seen, "weights": policy.weight.tolist(), "fixed": fixed.weight.tolist()}
    Path(os.environ["RESULTS"], f"{os.getpid()}.json").write_text(json.dumps(results))
