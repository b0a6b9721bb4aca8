# Changed: a block of the files
# Options: --suggested

import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
each = len(files) // hvd.size()
mine = files[hvd.local_rank() * each : (hvd.local_rank() + 1) * each]
