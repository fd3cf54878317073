"""What all rooms stand on: messages, files, tables, settings, digests."""
