"""A delivered report in other formats: one document model, one writer a format."""
