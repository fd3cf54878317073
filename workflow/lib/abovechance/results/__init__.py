"""Responses of models: predictions, accuracies and the response matrix."""
