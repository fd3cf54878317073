from .contract import Metric as Metric, Terms as Terms
from .registry import metric as metric, metric_names as metric_names
