import torch


class Net(torch.nn.Module):
    def configure(self, lr):
        groups = [{'params': [p for p in self.parameters()]}]
        optimizer = torch.optim.AdamW(groups, lr=lr)
        return optimizer
