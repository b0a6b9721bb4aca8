"""The post-conditions of a migrated program: what the table says, and why."""
