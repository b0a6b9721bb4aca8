import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
mine = files[hvd.rank() :: hvd.size()]
