# Reported: two arguments may have to be computed on all ranks; or one, after a call that may not move

import torch
from torchvision.utils import save_image

generator = torch.nn.Linear(4, 64)
loss.backward()
optimizer.step()
save_image(generator(noise), name(generator(noise)))
save_image(fp=next(names), tensor=generator(noise))
