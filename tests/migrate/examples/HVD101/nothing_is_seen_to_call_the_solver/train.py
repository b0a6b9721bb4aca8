# Changed: Nothing is seen to call the solver, whose optimizer will be Horovod's in a single process, too.

import torch.distributed as dist
from library import registry
import solvers

def main(options):
    if options["launcher"] != "none":
        dist.init_process_group("nccl")
    registry.get(options["kind"])(options).train()

if __name__ == "__main__":
    main(parse())
