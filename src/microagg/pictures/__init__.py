"""Pictures of plain numbers."""
