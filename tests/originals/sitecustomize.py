"""Let torch's Gloo threads finish before the interpreter ends.

They hold the tensors of the last collective a moment longer than the script does, also after
destroy_process_group. A thread that frees one while the interpreter ends is made to exit inside a destructor:
"terminate called without an active exception", SIGABRT, for about one run of thirty (torch 2.13). A rank that
does its work and dies then says nothing about its migration.
"""

import atexit
import time

atexit.register(time.sleep, 0.2)
