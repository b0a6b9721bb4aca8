# Changed: All ranks go on running the function: it keeps something.

import torch
from torchvision.utils import save_image

def shown(x):
    seen.append(x)
    return x

class Shown:
    @staticmethod
    def of(x):
        return x

loss.backward()
optimizer.step()
save_image(shown(images), "images.png")
