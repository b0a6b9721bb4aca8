import numpy as np
import horovod.torch as hvd
import torch
from torchvision.utils import save_image

to_bytes = lambda x: (255 * np.clip(x, 0, 1)).astype(np.uint8)

def denorm(x):
    out = (x + 1) / 2
    return out.clamp(0, 1)

loss.backward()
optimizer.step()
if hvd.rank() == 0:
    save_image(denorm(images), "images.png")
    np.save("bytes.npy", to_bytes(pixels))
