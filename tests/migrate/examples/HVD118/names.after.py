import os, hvdkit.torch as hvd
from hvdkit.torch import (
    allreduce,
    init,
)

init()
print(allreduce(hvd.rank()), os.getpid())
