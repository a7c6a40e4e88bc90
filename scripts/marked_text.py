"""Parts of documents that commands write: between `<!-- key -->` and `<!-- /key -->`, on lines of their
own or within one."""
import os
import pathlib


class NoPlace(Exception):
    """The document has no place for the part, or more than one; the text says which."""


def replaced(text, key, body):
    """The text with the body between the marks of the key."""
    begin, end = f"<!-- {key} -->", f"<!-- /{key} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise NoPlace(f"there is no one place marked '{begin}' … '{end}'")
    return text[:text.index(begin) + len(begin)] + body + text[text.index(end):]


def put(path, key, body):
    """Writes the part of the document anew."""
    path = pathlib.Path(path)
    new = path.with_name(path.name + ".new")
    new.write_text(replaced(path.read_text(encoding="utf-8"), key, body), encoding="utf-8")
    os.replace(new, path)
