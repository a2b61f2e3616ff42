"""Arrow and Parquet tables, measured by their headers before anything is unpacked."""
