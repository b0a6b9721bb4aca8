# Changed: A variable holds the text first.
# Options: --suggested

import torch

def main(args):
    device = f"cuda:{args.device}" if torch.cuda.is_available() else "cpu"
    device = torch.device(device)
    model = torch.nn.Linear(2, 1).to(device)
    model(x.to(device)).sum().backward()
    optimizer.step()

main(parse())
