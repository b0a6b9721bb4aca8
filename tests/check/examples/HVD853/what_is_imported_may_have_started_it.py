# Kept: it asks whether Horovod is initialized, so something else may have done it

import horovod.torch as hvd
from cluster import prepare

prepare()
print(hvd.rank())
if not hvd.is_initialized():
    hvd.init()
