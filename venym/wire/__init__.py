"""Bytes to fields and back: MoldUDP64, ITCH 5.0, pcap, Ethernet. No sockets, clocks or allocation here."""
