from .climbing import climb as climb
from .guessers import (
    GUESSERS as GUESSERS,
    Guesser as Guesser,
    Situation as Situation,
    all_guessers as all_guessers,
)
