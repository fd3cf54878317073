"""What models answered: predictions, accuracies and the response matrix."""
