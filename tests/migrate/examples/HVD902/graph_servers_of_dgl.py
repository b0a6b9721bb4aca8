# Reported: only DGL's launcher starts the servers that hold the graph's parts

import dgl
import torch

dgl.distributed.initialize(args.ip_config)
torch.distributed.init_process_group("gloo")
graph = dgl.distributed.DistGraph(args.graph_name)
