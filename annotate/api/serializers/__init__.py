"""JSON that is sent and received, every field by name; one file for each file of `views`."""
