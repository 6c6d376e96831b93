"""Trained encoders as ONNX graphs, written from known weights or read from a file."""
