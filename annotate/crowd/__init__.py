"""How paid strangers come, agree, and leave: the one writer of the tables of `annotate.models.crowd`."""
