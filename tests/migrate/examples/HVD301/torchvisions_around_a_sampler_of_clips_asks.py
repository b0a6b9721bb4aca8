# Changed: torchvision's, around a sampler of clips, asks the process group as well.

from torchvision.datasets.samplers import DistributedSampler, RandomClipSampler

sampler = DistributedSampler(RandomClipSampler(clips, 5))
