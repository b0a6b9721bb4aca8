import os
import torch.distributed as dist

os.environ["MASTER_PORT"] = port = "29500"
dist.init_process_group("nccl", init_method=f"tcp://{os.environ.get('MASTER_ADDR', '127.0.0.1')}:{port}")
