# Kept: devices are counted per node

import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
each = len(gpus) // hvd.local_size()
mine = gpus[hvd.local_rank() * each : (hvd.local_rank() + 1) * each]
tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
files = files[hvd.rank() :: hvd.size()]
