"""What one file says by itself: scopes, imports, calls and what names mean."""
