"""A study: its config, tasks, prompts and model folders."""
