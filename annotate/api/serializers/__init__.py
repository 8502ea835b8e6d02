"""What goes in and out as JSON, every field by name; one file for what each file of `views` deals with."""
