"""How paid strangers come, agree, are tried, and leave: the one writer of the tables of `annotate.models.crowd`."""
