"""A horovodrun that starts at once: a folder of its own, so that Python puts no other module on the path."""
