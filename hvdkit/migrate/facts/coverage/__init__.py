"""Whether all that is trained is averaged, and is the same on all ranks from the first step on."""
