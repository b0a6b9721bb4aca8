# Changed: The project has a copy of the library that the optimizer is known from.

import torch
from transformers import AdamW

optimizer = AdamW(model.parameters(), lr=1e-3)
for x in batches:
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
