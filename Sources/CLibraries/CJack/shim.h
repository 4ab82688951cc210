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

// The n-th event of a MIDI port's buffer, as status | first data byte << 8 | second data byte << 16. 0 for anything but
// a channel message of two or three bytes.
static inline uint32_t pinna_jack_midi_message(void *buffer, uint32_t n) {
  jack_midi_event_t event;
  if (jack_midi_event_get(&event, buffer, n) != 0 || event.size < 2 || event.size > 3) return 0;
  uint32_t status = event.buffer[0];
  if (status < 0x80 || status >= 0xF0) return 0;
  uint32_t second = event.size == 3 ? event.buffer[2] : 0;
  return status | (uint32_t)event.buffer[1] << 8 | second << 16;
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
