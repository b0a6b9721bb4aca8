# Changed: All ranks go on running the function: a statement that is none of those known.

import torch
from torchvision.utils import save_image

def shown(x):
    pass
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(shown(images), "images.png")
