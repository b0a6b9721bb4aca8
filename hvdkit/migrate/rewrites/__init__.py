"""What replaces the constructs that several rules rewrite, as edits made from facts."""
