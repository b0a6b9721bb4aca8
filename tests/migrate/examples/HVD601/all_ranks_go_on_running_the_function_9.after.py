import horovod.torch as hvd
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
written = Shown.of(images)
if hvd.rank() == 0:
    save_image(written, "images.png")
