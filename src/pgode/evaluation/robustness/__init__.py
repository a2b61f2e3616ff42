"""How a perturbation of the initial state grows, beside the bound of Theorem 3.1."""
