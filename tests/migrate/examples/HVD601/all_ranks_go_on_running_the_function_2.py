# Changed: All ranks go on running the function: so it does here.

import torch
from torchvision.utils import save_image

def shown(x):
    x[0] = 1
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(shown(images), "images.png")
