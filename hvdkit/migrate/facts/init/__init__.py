"""Where hvd.init() goes, and what has to come after it."""
