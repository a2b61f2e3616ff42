"""Files that pgode itself wrote: how it is noticed that they have changed since.

`manifest` has the size and SHA-256 of each file of a run folder, `sealed` a checksum within a JSON
file, `schema` the form that their content must have.
"""
