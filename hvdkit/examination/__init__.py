"""What is looked at on each host of a job, and what is found wrong."""
