import hvdkit.torch as hvd

sampler = hvd.DistributedSampler(dataset)
