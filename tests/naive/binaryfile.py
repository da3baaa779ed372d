"""A BinaryFILE of any length taken apart: two octets of length, a message, and so on to the end."""


def messages_of(octets: bytes) -> list[bytes]:
    """The messages; fails when the last one is cut."""
    messages, at = [], 0
    while at < len(octets):
        end = at + 2 + int.from_bytes(octets[at : at + 2], "big")
        assert end <= len(octets), f"cut at {at}"
        messages.append(octets[at + 2 : end])
        at = end
    return messages
