"""Reading files that somebody else may have made: regular files only, and within limits.

A fifo would hang whoever opens it, a device has no end, and a few bytes of YAML can stand for
gigabytes. Whatever is wrong with a file is an `InputError` that says where it is and what to do.
"""

from pgode.runtime.reading.json_text import parse_json, read_json
from pgode.runtime.reading.limits import Limits
from pgode.runtime.reading.mappings import mapping, read_json_mapping, read_yaml_mapping
from pgode.runtime.reading.regular import check_file, check_folder, open_file, read_bytes
from pgode.runtime.reading.text import decoded, read_text
from pgode.runtime.reading.yaml_text import parse_yaml, read_yaml

__all__ = [
    "Limits",
    "check_file",
    "check_folder",
    "decoded",
    "mapping",
    "open_file",
    "parse_json",
    "parse_yaml",
    "read_bytes",
    "read_json",
    "read_json_mapping",
    "read_text",
    "read_yaml",
    "read_yaml_mapping",
]
