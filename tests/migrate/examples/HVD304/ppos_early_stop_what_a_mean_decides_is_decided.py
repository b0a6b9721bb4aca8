# Changed: PPO's early stop: what a mean decides is decided for all ranks at once.
# Options: --suggested

import gymnasium as gym
import torch

def options():
    args = parser.parse_args()
    args.batch = args.size // 4
    return args

args = options()
torch.manual_seed(args.seed)
env = gym.make("CartPole-v1")
for iteration in range(args.iterations):
    obs, reward, *_ = env.step(policy(obs))
    for number, start in enumerate(range(0, args.size, args.batch)):
        ratio = model(torch.tensor(obs))
        ratio.sum().backward()
        optimizer.step()
        kl = (ratio - 1).mean()
        if kl > args.target_kl:
            break
