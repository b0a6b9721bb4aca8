"""What ranks send each other, and what is the same on all of them."""
