"""The paper's three layers in PyTorch (section 4.1). Nothing outside `network` and `training` imports torch."""
