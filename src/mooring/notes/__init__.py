"""The lab notes: their studies run again and their claims decided; logs and configurations of the published code."""
