# Reported: DeepSpeed owns the process group, the optimizer and the loop

import deepspeed
import torch

engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters())
