# Changed: What these functions do is to compute: rank 0 may do so without the others.

import numpy as np
import torch
from torchvision.utils import save_image

to_bytes = lambda x: (255 * np.clip(x, 0, 1)).astype(np.uint8)

def denorm(x):
    out = (x + 1) / 2
    return out.clamp(0, 1)

loss.backward()
optimizer.step()
save_image(denorm(images), "images.png")
np.save("bytes.npy", to_bytes(pixels))
