"""What files hold, before anything is asked of it: texts, trees, names, and which import each other."""
