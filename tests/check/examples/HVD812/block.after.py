import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
each = len(files) // hvd.size()
mine = files[hvd.rank() * each : (hvd.rank() + 1) * each]
