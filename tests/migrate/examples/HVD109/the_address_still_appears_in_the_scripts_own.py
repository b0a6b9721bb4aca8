# Changed: The address still appears in the script's own messages.

import os
import torch.distributed as dist

os.environ.setdefault("MASTER_PORT", "29500")
url = "tcp://%s:%s" % (os.environ['MASTER_ADDR'], int(os.environ["MASTER_PORT"]))
dist.init_process_group("gloo", init_method=url)
