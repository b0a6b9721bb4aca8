"""Plans to disk: the gate, the undo record, atomic replacement, and taking it back."""
