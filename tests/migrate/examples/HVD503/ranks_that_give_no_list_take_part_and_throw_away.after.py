import horovod.torch as hvd

parts = [make() for _ in range(size)] if rank == 0 else None
for output, row in zip((parts or ()), hvd.allgather(part.detach().unsqueeze(0))):
    output.copy_(row)
