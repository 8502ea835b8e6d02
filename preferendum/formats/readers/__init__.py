"""Reading and writing files, one module a form."""
