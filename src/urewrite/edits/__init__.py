"""Sections 3, 4.2 and 4.3 of the paper without any model: the grid, its supervision, its regions, their application."""
