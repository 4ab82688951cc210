#pragma once
#include <microhttpd.h>

/// Starts a daemon that serves all connections of the listening socket `listener` on one thread of its own. Swift cannot
/// call a function with variable arguments.
static inline struct MHD_Daemon *pinna_start_web_server(
    int listener, MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connected, void *context, unsigned connections, unsigned seconds)
{
    return MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, context,
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
