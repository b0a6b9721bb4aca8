"""What expressions may be: values followed through assignments, calls, attributes and files."""
