"""The hosts of a job: their lists, the ways to them, and what is passed on to them."""
