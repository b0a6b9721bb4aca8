# Changed: A single-process script, too: its ranks would each normalise with a batch of their own.

import apex
import torch

model = apex.parallel.convert_syncbn_model(model)
model(x).sum().backward()
optimizer.step()
