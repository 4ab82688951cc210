#pragma once
#include <jack/jack.h>
#include <jack/metadata.h>
#include <jack/midiport.h>
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
