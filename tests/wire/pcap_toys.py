"""A compiled caller of the capture writer, for test_pcap_write."""

from venym.hot.jit import hot
from venym.wire import pcap_write


@hot
def put(octets, at, headers, headers_at, received_ns, identification, payload):
    return pcap_write.put_headers(octets, at, headers, headers_at, received_ns, identification, payload)
