#pragma once
#include <jack/jack.h>
#include <jack/midiport.h>
#include <jack/transport.h>
#include <jack/uuid.h>
#include <string.h>

// Whether this libjack is PipeWire's.
static inline int pinna_jack_is_pipewire(void) {
  const char *version = jack_get_version_string ? jack_get_version_string() : NULL;
  return version && strstr(version, "PipeWire");
}

struct pinna_midi_event {
  const uint8_t *bytes;
  uint32_t size;
};

// The n-th event of a MIDI port's buffer; of size 0 if there is none.
static inline struct pinna_midi_event pinna_jack_midi_event(void *buffer, uint32_t n) {
  jack_midi_event_t event;
  struct pinna_midi_event result = {NULL, 0};
  if (jack_midi_event_get(&event, buffer, n) == 0 && event.buffer) {
    result.bytes = event.buffer;
    result.size = (uint32_t)event.size;
  }
  return result;
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
