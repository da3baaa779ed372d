/* What the wire itself costs: receives a datagram, sends a message of fixed length over TCP, busy, nothing else.
 *
 *   bench_wire GROUP PORT INTERFACE_ADDRESS TCP_HOST TCP_PORT OCTETS
 *
 * The sockets are what venym's are: bound to the group, joined, non-blocking, stamped; TCP_NODELAY. What the peer
 * answers is read too, once a turn. It ends when the peer closes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    struct sockaddr_in group = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))}, peer = {.sin_family = AF_INET};
    inet_aton(argv[1], &group.sin_addr);
    int on = 1, udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), buffer = 33554432;
    setsockopt(udp, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(udp, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    setsockopt(udp, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    struct ip_mreq join;
    join.imr_multiaddr = group.sin_addr;
    inet_aton(argv[3], &join.imr_interface);
    if (bind(udp, (void *)&group, sizeof group) || setsockopt(udp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join))
        return perror("udp"), 1;
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    peer.sin_port = htons(atoi(argv[5]));
    inet_aton(argv[4], &peer.sin_addr);
    if (connect(tcp, (void *)&peer, sizeof peer)) return perror("tcp"), 1;
    setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int octets = atoi(argv[6]);
    char *message = malloc(octets), datagram[2048], control[128], answer[4096];
    memset(message, 'x', octets);
    memcpy(message + octets - 8, "\00110=000\001", 8);
    struct iovec at = {datagram, sizeof datagram};
    for (;;) {
        struct msghdr head = {.msg_iov = &at, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t got = recvmsg(udp, &head, MSG_DONTWAIT);
        if (got > 0) {
            if (datagram[19] == 1 && send(tcp, message, octets, MSG_NOSIGNAL) != octets) return perror("send"), 1;
        } else if (recv(tcp, answer, sizeof answer, MSG_DONTWAIT) == 0)
            return 0;
    }
}
