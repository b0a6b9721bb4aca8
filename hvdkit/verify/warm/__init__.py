"""Processes that have imported PyTorch or TensorFlow already, and fork one for each rank that a run starts.

Importing them takes longer than the few steps that are compared, and each run imports them on each rank.
Here two processes import it once: ranks of one host differ in their addresses, as separate processes do.

- pool.py starts the processes, and returns the command to write where Python would be started.
- client.py is that command. A launcher starts it as it starts Python, and it lives as long as its rank.
- server.py forks. The fork gets the client's files, folder, variables and cores, and ends with it.
- folders.py gives the fork the client's view of the user's folders, in which nothing of them is written.
- become.py makes the fork what `python SCRIPT` would have been.
- variables.py shows the fork's own variables in /proc, where runs find their processes.
"""
