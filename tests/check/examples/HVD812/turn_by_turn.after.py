import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
mine = [file for number, file in enumerate(files) if number % hvd.size() == hvd.rank()]
