# Changed: All ranks go on running the function: it draws random numbers.

import torch
from torchvision.utils import save_image

def shown(x):
    x = x + torch.rand(1)
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(shown(images), "images.png")
