"""What agents did, read back page by page and counted by day, however much the audit holds."""
