"""What a study is: its config, tasks, prompts and models' folders."""
