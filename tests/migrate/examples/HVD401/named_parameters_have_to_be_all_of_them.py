# Changed: Named parameters have to be all of them: a tensor that no model holds has no name.

import torch

def make(encoder, prototypes):
    groups = [{"params": encoder.parameters()}]
    if prototypes is not None:
        groups.append({"params": [prototypes], "weight_decay": 0})
    optimizer = torch.optim.AdamW(groups)
    return optimizer, len(groups)

encoder = torch.nn.Linear(2, 1)
optimizer, count = make(encoder, torch.nn.Parameter(torch.ones(2)))
encoder(x).sum().backward()
