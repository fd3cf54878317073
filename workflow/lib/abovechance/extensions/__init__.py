"""Parts that run inside other evaluation tools. Each tool finds its part by an entry point."""
