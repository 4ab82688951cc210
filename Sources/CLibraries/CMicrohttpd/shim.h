#pragma once
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/// Starts a daemon that serves those connections of the listening socket `listener` that `accept` allows, on one thread of
/// its own. Swift cannot call a function with variable arguments.
static inline struct MHD_Daemon *pinna_start_web_server(
    int listener, MHD_AcceptPolicyCallback accept, MHD_AccessHandlerCallback handle,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connected, void *context,
    unsigned connections, unsigned seconds)
{
    return MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, accept, context, handle, context,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connected, context, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, seconds, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
}

/// The state that `connected` stored for the connection of a request.
static inline void *pinna_connection_state(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// The user whose program holds the TCP connection from one IPv4 address and port to another, which are in network order, as
/// sock_diag(7) has it: at once, however many connections there are. Returns -1 if there is none, if its program has closed
/// it (the kernel calls root the owner of such a socket), and where the kernel does not tell.
static inline long long pinna_tcp_user(uint32_t address, uint16_t port, uint32_t peer, uint16_t peer_port)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 query;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .query = {.sdiag_family = AF_INET,
                  .sdiag_protocol = IPPROTO_TCP,
                  .idiag_states = ~0u,
                  .id = {.idiag_sport = port,
                         .idiag_dport = peer_port,
                         .idiag_src = {address},
                         .idiag_dst = {peer},
                         .idiag_cookie = {~0u, ~0u}}},
    };
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg found;
        char more[1024];
    } answer;
    int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (file < 0)
        return -1;
    // The kernel answers before `send` returns.
    long count = send(file, &request, sizeof request, 0) < 0 ? -1 : recv(file, &answer, sizeof answer, MSG_DONTWAIT);
    close(file);
    int is_found = count >= (long)offsetof(__typeof__(answer), more) && answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
    return is_found && answer.found.idiag_state == TCP_ESTABLISHED ? (long long)answer.found.idiag_uid : -1;
}
