import horovod.torch as hvd
import torch
from catalyst.data.sampler import DistributedSamplerWrapper
from monai.data import DistributedSampler

balanced = DistributedSamplerWrapper(sampler, num_replicas=hvd.size(), rank=hvd.rank())
scans = DistributedSampler(dataset, True, shuffle=False, num_replicas=hvd.size(), rank=hvd.rank())
