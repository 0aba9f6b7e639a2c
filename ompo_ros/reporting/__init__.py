"""What a run leaves behind: its record, tables, report and verdict, and how it is resumed."""
