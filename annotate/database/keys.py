"""Keys that come from outside: a number beyond all integers of a database is no row's."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import BigIntegerField
from django.db.models.fields.related_lookups import RelatedExact


class KeyIs(RelatedExact):
    """A key that is another row's, too, equals a number; nothing does if a database has no such integer.

    Django looks at the size of plain integers, and not at that of integers that refer to a row.
    """

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, int) and abs(self.rhs) > BigIntegerField.MAX_BIGINT:
            raise EmptyResultSet
        return super().as_sql(compiler, connection)
