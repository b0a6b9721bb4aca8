"""Starting a job from a list of hosts: what is passed, what is watched, what is left behind (nothing)."""
