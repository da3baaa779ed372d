"""The other side of the wire: speaks only bytes, keeps its own books."""
