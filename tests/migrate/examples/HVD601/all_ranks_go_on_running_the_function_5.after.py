import horovod.torch as hvd
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
written = shown(images)
if hvd.rank() == 0:
    save_image(written, "images.png")
