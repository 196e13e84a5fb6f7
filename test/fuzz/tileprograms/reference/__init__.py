"""The float64 reference of random programs."""
