import os
import torch.distributed as dist

url = "tcp://%s:%s" % (os.environ.get('MASTER_ADDR', '127.0.0.1'), int(os.environ.get("MASTER_PORT", "29500")))
dist.init_process_group("gloo", init_method=url)
