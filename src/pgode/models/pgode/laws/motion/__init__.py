"""Motion under tabulated pair laws: compiled steps, their gradient, and the same in torch."""
