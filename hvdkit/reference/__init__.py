"""What is published about the commands: the parsers' pages, and the schemas of what `--json` prints."""
