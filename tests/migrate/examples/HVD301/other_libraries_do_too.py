# Changed: Other libraries' do, too.

import torch
from catalyst.data.sampler import DistributedSamplerWrapper
from monai.data import DistributedSampler

balanced = DistributedSamplerWrapper(sampler)
scans = DistributedSampler(dataset, True, shuffle=False)
