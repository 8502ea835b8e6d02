"""What every reader checks with, and says where something is wrong."""
