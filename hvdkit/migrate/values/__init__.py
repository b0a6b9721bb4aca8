"""What each expression may be, and what names of libraries mean; nothing here knows of programs or ranks."""
