"""Messages, files, tables, settings and digests, on which all packages rest."""
