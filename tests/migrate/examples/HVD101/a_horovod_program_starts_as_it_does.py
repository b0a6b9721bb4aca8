# Kept: a Horovod program starts as it does

import os
import horovod.torch as hvd

hvd.init()
folder = os.path.join("logs", os.environ.get("SLURM_PROCID", "0"))
