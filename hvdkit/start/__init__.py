"""`hvdkit init`: what a folder holds, and what to type next."""
