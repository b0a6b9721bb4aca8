# Kept: mpirun starts this once a host, and torch's launcher in it starts the ranks

import os
import tools

if "OMPI_COMM_WORLD_RANK" in os.environ:
    host = int(os.environ["OMPI_COMM_WORLD_RANK"])
    hosts = os.environ["OMPI_COMM_WORLD_SIZE"]
    address = os.environ["MASTER_ADDR"]
command = "torchrun --nproc_per_node=8 --nnodes={} --node_rank={} --master_addr={} main.py"
os.system(command.format(hosts, host, address))
