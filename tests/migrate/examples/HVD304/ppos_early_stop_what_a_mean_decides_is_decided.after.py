import gymnasium as gym
import horovod.torch as hvd
import torch

def options():
    args = parser.parse_args()
    args.batch = args.size // 4
    return args

args = options()
torch.manual_seed(args.seed)
args.seed += 1000 * hvd.rank()
env = gym.make("CartPole-v1")
torch.manual_seed(args.seed)
for iteration in range(args.iterations):
    obs, reward, *_ = env.step(policy(obs))
    for number, start in enumerate(range(0, args.size, args.batch)):
        ratio = model(torch.tensor(obs))
        ratio.sum().backward()
        optimizer.step()
        kl = (ratio - 1).mean()
        kl = hvd.allreduce(kl, op=hvd.Average)
        if kl > args.target_kl:
            break
