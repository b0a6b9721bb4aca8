"""Where this process's rank comes from: horovodrun, MPI, a node list, torchrun, PyTorchJob, Slurm, or alone.

For the launchers that Horovod does not know, rank 0 runs Horovod's own rendezvous on the job's control port,
and each rank sets Horovod's variables before its init: no ssh and no mpirun. No framework is imported here.
"""
