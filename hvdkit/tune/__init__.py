"""Searches the settings of Horovod that make a job fast on the hosts at hand."""
