# Kept: the program is not distributed by torch

import os
import torch

if "RANK" in os.environ:
    print("a rank")
