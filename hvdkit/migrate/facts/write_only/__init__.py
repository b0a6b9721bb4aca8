"""Files that are written for a person, and statements that only write them."""
