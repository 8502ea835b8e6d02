"""Files that come in and go out, one file a form."""
