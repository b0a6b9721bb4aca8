# Changed.

import torch
import apex
from apex.parallel import DistributedDataParallel

model = apex.parallel.convert_syncbn_model(model)
model = DistributedDataParallel(model)
