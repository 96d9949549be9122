"""Training: from corpora to weights. With `network` the only place that imports torch and Lightning."""
