"""The same calm end of torch's process groups that `hvdkit verify` gives the scripts it runs.

A rank that does its work and then dies or hangs in torch says nothing about its migration.
"""

from hvdkit.observe.imports import after_import
from hvdkit.verify.hook.ending import leave_process_groups_calmly

# Every optimizer imports the compiler; it is named here only to be imported faster.
after_import({"torch": leave_process_groups_calmly, "torch._dynamo": lambda: None})
