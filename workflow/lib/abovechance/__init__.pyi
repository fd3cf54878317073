from .chance.best_of import BestOf as BestOf
from .chance.random_baseline import RandomBaseline as RandomBaseline
from .chance.randomization import Answers as Answers, randomization_test as randomization_test
from .chance.verdicts import Verdict as Verdict
from .shown.guessers import draw as draw
from .study.own_tasks import task_chances as task_chances

__version__: str
