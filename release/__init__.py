"""Tools of those who install or release pgode: hashes, licences, interpreters. Not shipped."""
