"""The comparison of the ranks of any script, without an edit, for HVDKIT_CHECK_SYNC and for `hvdkit run`.

`hvdkit_check_sync.pth`, which Python reads at its start, calls hvdkit.watch where the variable is set. Then:
settings (which steps) -> hvdkit.watch (what the process does, kept in history) -> once a step is due,
hvdkit.torch.sync (the ranks compare themselves) or folder (the launcher compares) -> evidence (of each
rank) -> causes, disagreement. Nothing here imports a framework or Horovod before the script.
"""
