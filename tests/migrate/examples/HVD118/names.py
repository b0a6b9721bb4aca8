# Changed: names imported from the module, and other modules in the same statement
# Options: --target hvdkit

import os, horovod.torch as hvd
from horovod.torch import (
    allreduce,
    init,
)

init()
print(allreduce(hvd.rank()), os.getpid())
