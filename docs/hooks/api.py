"""Make what griffe reads from the sources fit for the API reference.

Every name stands once, where it is defined, and not again in the package that re-exports it. A
setting shows its default and its description instead of the call of pydantic's `Field` that holds
both. An argument of a command shows its type without what only the command line needs.
"""

import ast
from collections.abc import Iterator
from typing import Any

import griffe


class Readable(griffe.Extension):
    """What mkdocstrings calls when it has read the package."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change the package in place, before any page is rendered."""
        for module in _modules(pkg):
            module.exports = None
            for function in module.functions.values():
                for parameter in function.parameters:
                    parameter.annotation = _plain(parameter.annotation)
            for kind in module.classes.values():
                for attribute in kind.attributes.values():
                    _show_setting(attribute)


def _modules(package: griffe.Module) -> Iterator[griffe.Module]:
    yield package
    for module in package.modules.values():
        if not module.is_alias:
            yield from _modules(module)


def _plain(annotation: Any) -> Any:
    """`Annotated[int, ...]` without the part that is not the type."""
    if isinstance(annotation, griffe.ExprSubscript) and str(annotation.left) == "Annotated":
        return annotation.slice.elements[0]
    return annotation


def _show_setting(attribute: griffe.Attribute | griffe.Alias) -> None:
    """Give a field of a config its default as its value and its description as its docstring."""
    value = None if attribute.is_alias else attribute.value
    if not isinstance(value, griffe.ExprCall):
        return
    if attribute.annotation is not None and not value.arguments:
        attribute.docstring = attribute.docstring or _docstring("A group of settings.", attribute)
    if str(value.function) == "Field":
        keywords = [each for each in value.arguments if isinstance(each, griffe.ExprKeyword)]
        named = {each.name: each.value for each in keywords}
        unnamed = [each for each in value.arguments if each not in keywords]
        attribute.value = unnamed[0] if unnamed else named.get("default")
        text = ast.literal_eval(str(named.get("description", "'A setting.'")))
        attribute.docstring = attribute.docstring or _docstring(text, attribute)


def _docstring(text: str, attribute: griffe.Attribute) -> griffe.Docstring:
    return griffe.Docstring(text[0].upper() + text[1:], parent=attribute)
