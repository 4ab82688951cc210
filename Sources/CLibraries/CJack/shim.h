#pragma once
#include <jack/jack.h>
#include <jack/metadata.h>
#include <jack/midiport.h>
#include <jack/transport.h>
#include <jack/uuid.h>
#include <string.h>

// Whether this libjack is PipeWire's.
static inline int pinna_jack_is_pipewire(void) {
  const char *version = jack_get_version_string ? jack_get_version_string() : NULL;
  return version && strstr(version, "PipeWire");
}

// jack_client_open is variadic, which Swift does not import.
static inline jack_client_t *pinna_jack_client_open(
    const char *name, jack_options_t options, jack_status_t *status, const char *server) {
  return server ? jack_client_open(name, options | JackServerName, status, server)
                : jack_client_open(name, options, status);
}

// The transport's frame at the start of this period; its complement (~) unless the transport rolls. Called in the process
// callback.
static inline long pinna_jack_transport_frame(const jack_client_t *client) {
  jack_position_t position;
  jack_transport_state_t state = jack_transport_query(client, &position);
  return state == JackTransportRolling || state == JackTransportLooping ? (long)position.frame : ~(long)position.frame;
}
