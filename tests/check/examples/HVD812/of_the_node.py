# Kept: the node shares out its own part

import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
here = files[hvd.cross_rank() :: hvd.cross_size()]
mine = here[hvd.local_rank() :: hvd.local_size()]
