# Reported: the runner starts the process group

import torch
from mmengine.runner import Runner

Runner.from_cfg(config).train()
