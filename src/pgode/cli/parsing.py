"""Parse lists given as one argument, such as 12,24,36."""

from pgode.runtime.errors import InputError


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers above 0 separated by commas, sorted and without repeats."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise InputError(
            f"{option} {text} is not a list of whole numbers. Expected, for instance, "
            f"{option} 12,24,36."
        )
    return numbers


def numbers(text: str, option: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} {text} is not a list of numbers. Expected, for instance, {option} 0.5,1.0."
        ) from None
