"""A task that even small models can do: what kind of thing is a robin?"""

from __future__ import annotations

import random

import pandas as pd

from abovechance.study.tasks import as_table

THINGS = {
    "bird": ("robin", "sparrow", "eagle", "owl", "penguin", "pigeon", "crow"),
    "fish": ("salmon", "trout", "shark", "tuna", "cod", "herring", "eel"),
    "tree": ("oak", "pine", "maple", "willow", "birch", "elm", "cedar"),
    "tool": ("hammer", "screwdriver", "saw", "wrench", "drill", "chisel", "axe"),
    "fruit": ("apple", "banana", "cherry", "grape", "mango", "pear", "plum"),
    "vehicle": ("car", "truck", "bus", "train", "bicycle", "tram", "van"),
    "instrument": ("violin", "piano", "flute", "drum", "trumpet", "cello", "harp"),
    "metal": ("iron", "copper", "gold", "silver", "zinc", "lead", "tin"),
}
CHOICES = 4
SEED = "everyday"  # the task is the same in all studies


def everyday_task() -> pd.DataFrame:
    """Return the table ``tasks`` of 56 questions with four choices each."""
    generator = random.Random(SEED)
    rows = []
    for kind, things in THINGS.items():
        for thing in things:
            choices = [kind, *generator.sample([name for name in THINGS if name != kind], CHOICES - 1)]
            generator.shuffle(choices)
            article = "an" if thing[0] in "aeiou" else "a"
            rows.append(
                {
                    "example": thing,
                    "input": thing,
                    "text": f"Question: What kind of thing is {article} {thing}?\nAnswer:",
                    "choices": choices,
                    "correct": [choice == kind for choice in choices],
                    "null": "Answer:",
                }
            )
    return as_table(rows)
