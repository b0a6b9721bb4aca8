# Changed: All ranks go on running the function: it sets a seed.

import torch
from torchvision.utils import save_image

def shown(x):
    torch.manual_seed(1)
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(shown(images), "images.png")
