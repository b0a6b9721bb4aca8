# Reported: a pool of a context

import horovod.tensorflow as hvd
import multiprocessing as mp

hvd.init()
context = mp.get_context("spawn")
pool = context.Pool(4)
