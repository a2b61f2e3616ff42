"""The form of scales that a run stores."""
