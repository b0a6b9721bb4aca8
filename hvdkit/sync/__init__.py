"""The check of the ranks that HVDKIT_CHECK_SYNC switches on in any script, without an edit.

`hvdkit_check_sync.pth`, which Python reads at its start, calls `start` where the variable is set. Then:
settings (which steps) -> watch (what the process does, kept in history) -> hvdkit.torch.sync (compares, once
a step is due) -> evidence (of each rank) -> causes. Nothing here imports torch or Horovod before the script.
"""
