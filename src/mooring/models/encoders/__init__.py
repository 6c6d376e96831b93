"""Encoders that somebody has trained before, as ONNX graphs: written here from known weights, or read from a file."""
