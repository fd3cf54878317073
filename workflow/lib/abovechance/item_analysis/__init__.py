"""Which examples of a benchmark tell models apart, and what fewer of them would say."""
