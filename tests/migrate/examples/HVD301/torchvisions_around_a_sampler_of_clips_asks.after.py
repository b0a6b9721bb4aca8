from torchvision.datasets.samplers import DistributedSampler, RandomClipSampler
import horovod.torch as hvd

sampler = DistributedSampler(RandomClipSampler(clips, 5), num_replicas=hvd.size(), rank=hvd.rank())
