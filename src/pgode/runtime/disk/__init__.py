"""What the file system does to writers: disks that fill up, processes that die, folders in use."""
