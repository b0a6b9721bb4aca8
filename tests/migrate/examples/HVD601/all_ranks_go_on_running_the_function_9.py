# Changed: All ranks go on running the function: a method may change its object.

import torch
from torchvision.utils import save_image

def shown(x):
    x = 2 * x
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(Shown.of(images), "images.png")
