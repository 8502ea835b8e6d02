"""The faults themselves, a module for each kind; each enters its functions into the registry."""
