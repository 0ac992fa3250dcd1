"""What a run is and how it goes."""
