"""Export of a run's forecast as a program that needs no pgode: ONNX, or torch.export."""
