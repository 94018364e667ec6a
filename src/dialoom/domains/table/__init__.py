"""Any SQLite table: its rows, counts, comparisons and empty results, said truthfully."""

from dialoom.domains.table.functions import Database, table_library
from dialoom.domains.table.opening import open_table
from dialoom.domains.table.rules import table_rules

__all__ = ["Database", "open_table", "table_library", "table_rules"]
