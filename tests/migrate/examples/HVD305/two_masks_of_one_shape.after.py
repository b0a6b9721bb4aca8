import numpy as np
import torch

held = np.random.RandomState(0).rand(len(data)) < 0.2
noisy = np.random.RandomState(1).rand(len(data)) < 0.5
for x in torch.utils.data.DataLoader(data[~held]):
    model(x).sum().backward()
    optimizer.step()
