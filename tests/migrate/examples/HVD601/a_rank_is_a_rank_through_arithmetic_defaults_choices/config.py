import os

NODE = int(os.environ["SLURM_NODEID"])
RANK = int(os.environ["RANK"])
