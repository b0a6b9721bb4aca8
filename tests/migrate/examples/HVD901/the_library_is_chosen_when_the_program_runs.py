# Reported: the library is chosen when the program runs

from importlib import import_module
import torch

class Backend:
    MODULE = "deepspeed"

    def start(self):
        torch.cuda.init()
        return import_module(self.MODULE).initialize()
