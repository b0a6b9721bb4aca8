# Changed: every size-th file, by a test
# Options: --suggested

import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
mine = [file for number, file in enumerate(files) if number % hvd.local_size() == hvd.local_rank()]
