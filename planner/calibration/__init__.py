"""How sure the figures are: residuals of measured runs, and the intervals and probabilities that follow from them."""
