# Kept: a script beside a training program uses a helper of it, which runs a backward pass

import torch
from tools import profile

profile()
