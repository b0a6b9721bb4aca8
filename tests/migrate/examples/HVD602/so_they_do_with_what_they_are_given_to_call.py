# Kept: so they do with what they are given to call

import torch
from torchvision import transforms

def flip(image):
    print("flipped")
    return image

class Batches:
    def merge(self, samples):
        print("merged")
        return samples

    def loader(self, images):
        images.transform = transforms.Lambda(lambda image: flip(image))
        return torch.utils.data.DataLoader(images, collate_fn=self.merge)

loss.backward()
optimizer.step()
