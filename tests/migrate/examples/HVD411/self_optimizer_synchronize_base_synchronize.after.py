import torch
from timm.optim import Lookahead

class Trainer:
    def __init__(self, model, args):
        base = torch.optim.AdamW(model.parameters(), lr=args.lr)
        self.optimizer = Lookahead(base, k=5)
        self.optimizer.synchronize = base.synchronize
        model(x).sum().backward()
