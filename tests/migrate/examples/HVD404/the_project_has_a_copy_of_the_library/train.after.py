import torch
from transformers import AdamW

optimizer = AdamW(model.parameters(), lr=1e-3)
for x in batches:
    model(x).sum().backward()
    optimizer.synchronize()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    with optimizer.skip_synchronize():
        optimizer.step()
