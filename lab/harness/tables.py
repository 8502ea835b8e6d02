"""The rows as the database has them, read with plain SQL: nothing of the product stands between."""

from __future__ import annotations

import sqlite3
import threading
import uuid
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.rows import dict_row

Row = dict[str, Any]


class Away(Exception):
    """The database cannot be asked right now."""


class Kept:
    """A connection to PostgreSQL that is closed when nobody needs it any more: its thread or its tables are gone."""

    def __init__(self, url: str) -> None:
        # Without plans that are kept: they say which columns `*` has, and trials add some.
        kept = {"prepare_threshold": None, "autocommit": True}
        self.connection = psycopg.connect(url, row_factory=dict_row, connect_timeout=3, **kept)

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.connection.close()


class Tables:
    """A database by its address (`sqlite:////path` or `postgres://...`)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._kept = threading.local()  # a connection for each thread: PostgreSQL starts a process for every one
        self.is_sqlite = url.startswith("sqlite")

    def rows(self, sql: str, *parameters: Any) -> list[Row]:
        """What a query with `?` for its parameters finds; UUIDs as 32 hexadecimal digits. Raises `Away`."""
        try:
            rows = self._ask_sqlite(sql, parameters) if self.is_sqlite else self._ask_postgres(sql, parameters)
        except (sqlite3.Error, psycopg.Error) as error:
            raise Away(str(error)) from error
        return [{name: _plain(value) for name, value in row.items()} for row in rows]

    def value(self, sql: str, *parameters: Any) -> Any:
        """The one value that a query finds."""
        (row,) = self.rows(sql, *parameters)
        return next(iter(row.values()))

    def write(self, sql: str, *parameters: Any) -> None:
        """Do to the tables what no part of the product would."""
        try:
            if self.is_sqlite:
                with sqlite3.connect(urlsplit(self.url).path, timeout=20) as connection:
                    connection.execute(sql, parameters)
                connection.close()
            else:
                with psycopg.connect(self.url, connect_timeout=3) as server:
                    server.execute(sql.replace("?", "%s"), parameters)
        except (sqlite3.Error, psycopg.Error) as error:
            raise Away(str(error)) from error

    def _ask_sqlite(self, sql: str, parameters: tuple[Any, ...]) -> list[Row]:
        connection = sqlite3.connect(urlsplit(self.url).path, timeout=20)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, parameters)]
        finally:
            connection.close()

    def _ask_postgres(self, sql: str, parameters: tuple[Any, ...]) -> list[Row]:
        asked, kept = sql.replace("?", "%s"), getattr(self._kept, "one", None)
        self._kept.one = None
        try:
            if kept is not None:
                rows: list[Row] = kept.connection.execute(asked, parameters).fetchall()
                self._kept.one = kept
                return rows
        except psycopg.OperationalError:
            pass  # the server that it was made to may have died since, and another be there
        made = Kept(self.url)
        rows = made.connection.execute(asked, parameters).fetchall()
        self._kept.one = made
        return rows


def _plain(value: Any) -> Any:
    return value.hex if isinstance(value, uuid.UUID) else value
