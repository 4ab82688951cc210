// The graph of the offline tests: the functions of libjack that Pinna calls, and the clients of one process, without a
// server. Periods follow each other on a virtual clock, some times as fast as sound. None is ever missed, however busy the
// machine is. Clients are told that this is freewheel, unless a test shows what Pinna does in time.
//
// With the property pipewire=1 it is PipeWire's libjack, faults included (1.4.2): who closes a client with connections after
// the server has died, or asks something of one that was destroyed from outside, is ended with a word; and the first
// period's length is told by the thread of the process callback.
//
// PINNA_OFFLINE names a folder. There, a test sends commands to the socket graph.sock (`command`), and a file called
// "down" means that no server is running; one called "client-NAME", that another program has that name. PINNA_OFFLINE_GRAPH has the graph's first properties, as "name=number ...".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jack/jack.h>
#include <jack/midiport.h>
#include <jack/transport.h>
#include <jack/uuid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CLIENTS = 64, MAX_PORTS = 2048, MAX_WIRES = 4096, MAX_FRAMES = 8192, MAX_EVENTS = 64, MAX_RECORDED = 8, NAME = 320 };

struct event { uint8_t bytes[512]; size_t size; };
struct midi { uint32_t count; struct event events[MAX_EVENTS]; };

struct _jack_port {
  int id, flags, is_midi, is_used, was_connected;
  jack_client_t *owner; // NULL for ports that the graph has by itself.
  char name[NAME], alias[2][NAME];
  jack_latency_range_t latency[2];
  float *samples;
  struct midi *midi;
};

struct _jack_client {
  // In PipeWire: lost with its server; destroyed from outside; ports that the dead server had connected.
  int is_used, is_active, is_orphan, is_destroyed, connected_ports;
  char name[NAME];
  JackProcessCallback process; void *process_context;
  JackBufferSizeCallback period; void *period_context;
  JackSampleRateCallback rate; void *rate_context;
  JackXRunCallback xrun; void *xrun_context;
  JackFreewheelCallback freewheel; void *freewheel_context;
  JackLatencyCallback latency; void *latency_context;
  JackPortRegistrationCallback registration; void *registration_context;
  JackPortConnectCallback connection; void *connection_context;
  JackInfoShutdownCallback shutdown; void *shutdown_context;
  JackThreadInitCallback thread_init; void *thread_init_context;
  JackClientRegistrationCallback client_registration; void *client_registration_context;
};

static struct _jack_client clients[MAX_CLIENTS];
static struct _jack_port ports[MAX_PORTS];
static struct { jack_port_t *from, *to; } wires[MAX_WIRES];
static int wire_count, is_started, is_listening, is_dead, is_rolling, is_frozen;
static int is_pipewire, last_period;
static jack_client_t *joining; // Waits in jack_activate until the driver has told it the period.
static int period = 128, rate = 48000, speed = 8, load = 1, freewheels = 1;
// Whether the graph does as PipeWire: it changes its period after it has said so, and tells that all ports went and came
// back. Then, the next period.
static int is_lazy, next_period;
static uint32_t frame_time, transport_frame, skip, periods, opened;
static int skip_reason;
// After so many frames the graph is frozen; 0 for never.
static uint32_t frames_left;
// What the graph plays at its capture ports, and what it records.
static float *sound; static size_t sound_frames, sound_at; static int sound_channels, repeats;
static FILE *recording[MAX_RECORDED]; static jack_port_t *recorded[MAX_RECORDED];
// Play the frame time, and the transport's frame while it rolls, as FrameClock.swift codes them.
static jack_port_t *frame_clock, *transport_clock;

// Two locks: `graph` protects the tables above and is held during a period; `requests` is held by whoever changes them, and
// while clients are told, in which they call back into libjack.
static pthread_mutex_t graph = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t requests = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_t driver, listener;

static char *folder_file(const char *name) {
  static __thread char path[4096];
  const char *folder = getenv("PINNA_OFFLINE");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "/nonexistent", name);
  return path;
}

static void *zeroed(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) abort();
  return memory;
}

static jack_port_t *find(const char *name) {
  for (int n = 0; n < MAX_PORTS; n++)
    if (ports[n].is_used && (!strcmp(ports[n].name, name) || (*name && !strcmp(ports[n].alias[0], name)))) return &ports[n];
  return NULL;
}

// MARK: Notifications

#define TELL(callback, ...) \
  for (int c = 0; c < MAX_CLIENTS; c++) \
    if (clients[c].is_used && clients[c].callback) clients[c].callback(__VA_ARGS__, clients[c].callback##_context)

static void tell_latencies(void) {
  TELL(latency, JackCaptureLatency);
  TELL(latency, JackPlaybackLatency);
}

static jack_port_t *add_port(jack_client_t *owner, const char *name, int flags, int is_midi) {
  pthread_mutex_lock(&requests);
  jack_port_t *port = NULL;
  pthread_mutex_lock(&graph);
  if (!find(name))
    for (int n = 0; n < MAX_PORTS && !port; n++)
      if (!ports[n].is_used) port = &ports[n];
  if (port) {
    memset(port, 0, sizeof *port);
    port->id = (int)(port - ports);
    port->flags = flags;
    port->is_midi = is_midi;
    port->owner = owner;
    snprintf(port->name, NAME, "%s", name);
    if (is_midi) port->midi = zeroed(sizeof *port->midi);
    else port->samples = zeroed(MAX_FRAMES * sizeof(float));
    port->is_used = 1;
  }
  pthread_mutex_unlock(&graph);
  if (port) TELL(registration, (jack_port_id_t)port->id, 1);
  pthread_mutex_unlock(&requests);
  return port;
}

static int set_wire(jack_port_t *from, jack_port_t *to, int is_on) {
  int result = 0;
  pthread_mutex_lock(&requests);
  pthread_mutex_lock(&graph);
  int at = 0;
  while (at < wire_count && (wires[at].from != from || wires[at].to != to)) at++;
  if (is_on && at < wire_count) result = EEXIST;
  else if (!is_on && at == wire_count) result = -1;
  else if (is_on && wire_count == MAX_WIRES) result = -1;
  else if (is_on) { wires[wire_count].from = from; wires[wire_count++].to = to; }
  else wires[at] = wires[--wire_count];
  pthread_mutex_unlock(&graph);
  if (!result) {
    TELL(connection, (jack_port_id_t)from->id, (jack_port_id_t)to->id, is_on);
    tell_latencies();
  }
  pthread_mutex_unlock(&requests);
  return result;
}

static void remove_port(jack_port_t *port) {
  pthread_mutex_lock(&requests);
  for (int at = wire_count - 1; at >= 0; at--)
    if (at < wire_count && (wires[at].from == port || wires[at].to == port)) set_wire(wires[at].from, wires[at].to, 0);
  pthread_mutex_lock(&graph);
  int id = port->id;
  port->is_used = 0;
  free(port->samples);
  free(port->midi);
  port->samples = NULL;
  port->midi = NULL;
  pthread_mutex_unlock(&graph);
  TELL(registration, (jack_port_id_t)id, 0);
  pthread_mutex_unlock(&requests);
}

static void set_period(int frames) {
  pthread_mutex_lock(&requests);
  pthread_mutex_lock(&graph);
  period = frames;
  TELL(period, (jack_nframes_t)frames);
  pthread_mutex_unlock(&graph);
  tell_latencies();
  pthread_mutex_unlock(&requests);
}

// MARK: Periods

// What arrives at an input, in its own buffer.
static void mix(jack_port_t *input) {
  if (input->is_midi) return;
  memset(input->samples, 0, (size_t)period * sizeof(float));
  for (int at = 0; at < wire_count; at++)
    if (wires[at].to == input && wires[at].from->samples)
      for (int n = 0; n < period; n++) input->samples[n] += wires[at].from->samples[n];
}

static int is_capture(jack_port_t *port) {
  return port->is_used && !port->owner && !port->is_midi && (port->flags & JackPortIsOutput) && port != frame_clock
      && port != transport_clock;
}

static float coded(uint32_t frame) { return ((float)(frame & 0x7FFFFF) + 0.5f) / 8388608; }

static void play_sound(void) {
  int channel = 0;
  for (int p = 0; p < MAX_PORTS; p++) {
    if (!is_capture(&ports[p])) continue;
    for (int n = 0; n < period; n++) {
      size_t at = sound_at + (size_t)n;
      int is_heard = sound_frames && channel < sound_channels && (repeats || at < sound_frames);
      ports[p].samples[n] = is_heard ? sound[(size_t)channel * sound_frames + at % sound_frames] : 0;
    }
    channel++;
  }
  sound_at += (size_t)period;
  for (int n = 0; n < period; n++) {
    frame_clock->samples[n] = coded(frame_time + (uint32_t)n);
    transport_clock->samples[n] = is_rolling ? coded(transport_frame + (uint32_t)n) : 0;
  }
}

static void record_sound(void) {
  for (int c = 0; c < MAX_RECORDED; c++)
    if (recording[c] && recorded[c]->samples) fwrite(recorded[c]->samples, sizeof(float), (size_t)period, recording[c]);
}

// Records ports, each into a file with its number behind `path`, until it is called with none.
static void record(const char *path, char **names) {
  pthread_mutex_lock(&graph);
  for (int c = 0; c < MAX_RECORDED; c++) {
    char file[4200];
    snprintf(file, sizeof file, "%s%d", path, c);
    if (recording[c]) fclose(recording[c]);
    recorded[c] = find(names[c]);
    recording[c] = recorded[c] ? fopen(file, "wb") : NULL;
  }
  pthread_mutex_unlock(&graph);
}

// Plays frames without the clients, in their time, and tells what has PipeWire do so: in the thread that calls them next.
// With "fall", the frame time falls back by as many, as where PipeWire 1.4 changes the period.
static uint32_t leave_out(void) {
  pthread_mutex_lock(&graph);
  uint32_t frames = skip_reason && !is_frozen ? skip : 0;
  int reason = skip_reason;
  if (frames) skip = 0, skip_reason = 0;
  pthread_mutex_unlock(&graph);
  if (!frames) return 0;
  usleep((useconds_t)(1000000ll * frames / rate / speed));
  if (reason == 'p' || reason == 'f') set_period(2 * period);
  if (reason == 'g') TELL(registration, 0, 0);
  return reason == 'f' ? -frames : frames;
}

static void run_period(void) {
  uint32_t skipped = leave_out();
  int next = __atomic_exchange_n(&next_period, 0, __ATOMIC_ACQ_REL);
  if (next) {
    set_period(next);
    for (int gone = 1; gone >= 0; gone--)
      for (int p = 0; p < MAX_PORTS; p++)
        if (ports[p].is_used) TELL(registration, (jack_port_id_t)p, !gone);
  }
  pthread_mutex_lock(&graph);
  if (is_frozen) {
    pthread_mutex_unlock(&graph);
    return;
  }
  // As in jackd2, by the length of the period that begins; in PipeWire it is the place of the period's first frame.
  frame_time += (uint32_t)(is_pipewire ? last_period : period) + skip + skipped;
  last_period = period;
  skip = 0;
  play_sound();
  for (int c = 0; c < MAX_CLIENTS; c++) {
    if (!clients[c].is_active || !clients[c].process) continue;
    for (int p = 0; p < MAX_PORTS; p++)
      if (ports[p].is_used && ports[p].owner == &clients[c] && (ports[p].flags & JackPortIsInput)) mix(&ports[p]);
    clients[c].process((jack_nframes_t)period, clients[c].process_context);
    for (int p = 0; p < MAX_PORTS; p++)
      if (ports[p].is_used && ports[p].owner == &clients[c] && ports[p].is_midi) ports[p].midi->count = 0;
  }
  for (int p = 0; p < MAX_PORTS; p++)
    if (ports[p].is_used && !ports[p].owner && (ports[p].flags & JackPortIsInput)) mix(&ports[p]);
  record_sound();
  if (is_rolling) transport_frame += (uint32_t)period;
  if (frames_left) {
    frames_left -= frames_left < (uint32_t)period ? frames_left : (uint32_t)period;
    if (!frames_left) __atomic_store_n(&is_frozen, 1, __ATOMIC_RELEASE);
  }
  __atomic_add_fetch(&periods, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&graph);
}

static void *drive(void *unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "offline graph");
  int is_first = 1;
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  while (!__atomic_load_n(&is_dead, __ATOMIC_ACQUIRE)) {
    if (is_first)
      for (int c = 0; c < MAX_CLIENTS; c++)
        if (clients[c].is_active && clients[c].thread_init) {
          clients[c].thread_init(clients[c].thread_init_context);
          is_first = 0;
        }
    jack_client_t *new = __atomic_load_n(&joining, __ATOMIC_ACQUIRE);
    if (new) {
      if (new->thread_init) new->thread_init(new->thread_init_context);
      if (new->period) new->period((jack_nframes_t)period, new->period_context);
      __atomic_store_n(&joining, NULL, __ATOMIC_RELEASE);
    }
    run_period();
    // Late periods are not made up for: the virtual clock is slower then.
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long next = due.tv_sec * 1000000000ll + due.tv_nsec + 1000000000ll * period / rate / speed;
    long long present = now.tv_sec * 1000000000ll + now.tv_nsec;
    if (next < present) next = present;
    due.tv_sec = next / 1000000000ll;
    due.tv_nsec = next % 1000000000ll;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  return NULL;
}

// MARK: Commands of a test

static void set_freewheel(int is_on) {
  pthread_mutex_lock(&requests);
  freewheels = is_on;
  TELL(freewheel, is_on);
  pthread_mutex_unlock(&requests);
}

// One channel after the other. 0 if there is no such file.
static int load_sound(const char *path, int channels, int again) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  fseek(file, 0, SEEK_END);
  size_t bytes = (size_t)ftell(file);
  rewind(file);
  float *samples = zeroed(bytes);
  if (fread(samples, 1, bytes, file) != bytes) abort();
  fclose(file);
  pthread_mutex_lock(&graph);
  sound = samples;
  sound_channels = channels;
  repeats = again;
  sound_frames = bytes / sizeof(float) / (size_t)channels;
  sound_at = 0;
  pthread_mutex_unlock(&graph);
  return 1;
}

// Returns when a period has taken the message; 0 if no port can take it.
static int send_midi(const char *port_name, const char *digits) {
  pthread_mutex_lock(&graph);
  jack_port_t *port = find(port_name);
  int is_taken = port && port->midi && port->midi->count < MAX_EVENTS;
  if (is_taken) {
    struct event *event = &port->midi->events[port->midi->count++];
    for (event->size = 0; digits[0] && digits[1] && event->size < sizeof event->bytes; digits += 2) {
      unsigned byte;
      sscanf(digits, "%2x", &byte);
      event->bytes[event->size++] = (uint8_t)byte;
    }
  }
  uint32_t first = periods;
  pthread_mutex_unlock(&graph);
  while (__atomic_load_n(&periods, __ATOMIC_ACQUIRE) == first && !is_frozen && !is_dead) usleep(100);
  return is_taken;
}

// Between periods. A negative number keeps what is.
static void set_transport(int rolls, long frame) {
  pthread_mutex_lock(&graph);
  if (rolls >= 0) is_rolling = rolls;
  if (frame >= 0) transport_frame = (uint32_t)frame;
  pthread_mutex_unlock(&graph);
}

// Afterwards no period is under way.
static void freeze(int is_on) {
  pthread_mutex_lock(&graph);
  __atomic_store_n(&is_frozen, is_on, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&graph);
}

// Lets a graph that stands still run so many frames.
static void run_frames(uint32_t count) {
  pthread_mutex_lock(&graph);
  frames_left = count;
  __atomic_store_n(&is_frozen, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&graph);
}

// Ends the process as glibc does when memory is freed twice.
static void end_process(const char *words) {
  fprintf(stderr, "%s\n", words);
  abort();
}

static void lose_clients(void) {
  pthread_mutex_lock(&graph);
  for (int c = 0; c < MAX_CLIENTS; c++) clients[c].is_orphan |= clients[c].is_used;
  for (int at = 0; at < wire_count; at++) wires[at].from->was_connected = wires[at].to->was_connected = 1;
  for (int p = 0; p < MAX_PORTS; p++)
    if (ports[p].is_used && ports[p].was_connected && ports[p].owner) ports[p].owner->connected_ports++;
  pthread_mutex_unlock(&graph);
}

// Another program destroys the node of a client, which PipeWire does not tell it but by the end of its name and ports.
static void destroy(const char *name) {
  pthread_mutex_lock(&requests);
  for (int c = 0; c < MAX_CLIENTS; c++) {
    jack_client_t *client = &clients[c];
    if (!client->is_used || client->is_destroyed || strcmp(client->name, name)) continue;
    pthread_mutex_lock(&graph);
    client->is_active = 0;
    client->is_destroyed = 1;
    pthread_mutex_unlock(&graph);
    TELL(client_registration, name, 0);
    for (int p = 0; p < MAX_PORTS; p++) {
      if (!ports[p].is_used || ports[p].owner != client) continue;
      for (int at = wire_count - 1; at >= 0; at--)
        if (at < wire_count && (wires[at].from == &ports[p] || wires[at].to == &ports[p]))
          set_wire(wires[at].from, wires[at].to, 0);
      pthread_mutex_lock(&graph);
      ports[p].is_used = 0;
      pthread_mutex_unlock(&graph);
      TELL(registration, (jack_port_id_t)p, 0);
    }
  }
  pthread_mutex_unlock(&requests);
}

static void die(const char *reason) {
  if (__atomic_exchange_n(&is_dead, 1, __ATOMIC_ACQ_REL)) return;
  if (is_pipewire) lose_clients();
  for (int c = 0; c < MAX_CLIENTS; c++)
    if (clients[c].is_used && clients[c].shutdown)
      clients[c].shutdown(JackFailure, reason, clients[c].shutdown_context);
}

// All wires, one a line, into `answer`.
static void list(char *answer, size_t size) {
  size_t at = 0;
  answer[0] = 0;
  pthread_mutex_lock(&graph);
  for (int n = 0; n < wire_count && at < size; n++)
    at += (size_t)snprintf(answer + at, size - at, "%s\t%s\n", wires[n].from->name, wires[n].to->name);
  for (int n = 0; n < MAX_PORTS && at < size; n++)
    if (ports[n].is_used) at += (size_t)snprintf(answer + at, size - at, "%s\n", ports[n].name);
  pthread_mutex_unlock(&graph);
  if (at >= size) snprintf(answer, size, "failed");
}

static void command(char *text, char *answer, size_t size) {
  char *word[MAX_RECORDED + 2];
  for (int n = 0; n < MAX_RECORDED + 2; n++) word[n] = "";
  int count = 0;
  for (char *rest = text, *part; count < MAX_RECORDED + 2 && (part = strsep(&rest, "\t"));) word[count++] = part;
  snprintf(answer, size, "done");
  if (!strcmp(word[0], "die")) die(word[1]);
  else if (!strcmp(word[0], "destroy")) destroy(word[1]);
  else if (!strcmp(word[0], "period")) set_period(atoi(word[1]));
  else if (!strcmp(word[0], "rate")) {
    pthread_mutex_lock(&requests);
    rate = atoi(word[1]);
    TELL(rate, (jack_nframes_t)rate);
    pthread_mutex_unlock(&requests);
  } else if (!strcmp(word[0], "freeze")) freeze(atoi(word[1]));
  else if (!strcmp(word[0], "freewheel")) set_freewheel(atoi(word[1]));
  else if (!strcmp(word[0], "run")) run_frames((uint32_t)atoi(word[1]));
  else if (!strcmp(word[0], "roll")) set_transport(atoi(word[1]), -1);
  else if (!strcmp(word[0], "locate")) set_transport(-1, atol(word[1]));
  else if (!strcmp(word[0], "position")) snprintf(answer, size, "%u", transport_frame);
  else if (!strcmp(word[0], "skip")) {
    pthread_mutex_lock(&graph);
    skip = (uint32_t)atoi(word[1]);
    skip_reason = count > 2 ? word[2][0] : 0;
    pthread_mutex_unlock(&graph);
  }
  else if (!strcmp(word[0], "lazy")) is_lazy = atoi(word[1]);
  else if (!strcmp(word[0], "rename") && find(word[1])) snprintf(find(word[1])->name, NAME, "%s", word[2]);
  else if (!strcmp(word[0], "xrun")) {
    for (int c = 0; c < MAX_CLIENTS; c++)
      if (clients[c].is_used && clients[c].xrun) clients[c].xrun(clients[c].xrun_context);
  } else if (!strcmp(word[0], "midi")) {
    if (!send_midi(word[1], word[2])) snprintf(answer, size, "failed");
  } else if (!strcmp(word[0], "sound")) {
    if (!load_sound(word[1], atoi(word[2]), !strcmp(word[3], "again"))) snprintf(answer, size, "failed");
  } else if (!strcmp(word[0], "record")) record(word[1], word + 2);
  else if (!strcmp(word[0], "add")) {
    int is_midi = !strcmp(word[3], "midi");
    int flags = strcmp(word[2], "output") ? JackPortIsInput : JackPortIsOutput;
    if (!add_port(NULL, word[1], flags, is_midi)) snprintf(answer, size, "failed");
  } else if (!strcmp(word[0], "remove") && find(word[1])) remove_port(find(word[1]));
  else if (!strcmp(word[0], "connect") || !strcmp(word[0], "disconnect")) {
    jack_port_t *from = find(word[1]), *to = find(word[2]);
    int result = from && to ? set_wire(from, to, word[0][0] == 'c') : -1;
    if (result && result != EEXIST) snprintf(answer, size, "failed");
  } else if (!strcmp(word[0], "list")) list(answer, size);
  else if (!strcmp(word[0], "frame")) snprintf(answer, size, "%u", frame_time);
  else if (!strcmp(word[0], "opened")) snprintf(answer, size, "%u", opened);
  else snprintf(answer, size, "unknown");
}

static void *listen_to_test(void *unused) {
  (void)unused;
  static char text[8192], answer[60000];
  int socket_file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX}, sender;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", folder_file("graph.sock"));
  unlink(address.sun_path);
  if (bind(socket_file, (struct sockaddr *)&address, sizeof address)) return NULL;
  for (;;) {
    socklen_t length = sizeof sender;
    ssize_t size = recvfrom(socket_file, text, sizeof text - 1, 0, (struct sockaddr *)&sender, &length);
    if (size < 0) continue;
    text[size] = 0;
    command(text, answer, sizeof answer);
    sendto(socket_file, answer, strlen(answer), 0, (struct sockaddr *)&sender, length);
  }
}

static void add_physical(const char *stem, int count, int flags) {
  for (int n = 1; n <= count; n++) {
    char name[NAME];
    snprintf(name, NAME, "system:%s_%d", stem, n);
    jack_port_t *port = add_port(NULL, name, flags | JackPortIsPhysical | JackPortIsTerminal, 0);
    int mode = flags & JackPortIsOutput ? JackCaptureLatency : JackPlaybackLatency;
    port->latency[mode].min = port->latency[mode].max = (jack_nframes_t)period;
  }
}

// What a server that died leaves: the ports that it had by itself.
static void forget_server(void) {
  pthread_join(driver, NULL);
  for (int p = 0; p < MAX_PORTS; p++)
    if (!ports[p].owner || ports[p].owner->is_orphan) ports[p].is_used = 0;
  for (int c = 0; c < MAX_CLIENTS; c++)
    if (clients[c].is_orphan) clients[c].is_used = clients[c].is_active = 0;
  is_dead = is_started = wire_count = is_rolling = 0;
  frame_time = transport_frame = 0;
}

static void start(void) {
  if (is_started) return;
  is_started = 1;
  char properties[256] = "", *rest = properties;
  int captures = 0, playbacks = 0;
  snprintf(properties, sizeof properties, "%s", getenv("PINNA_OFFLINE_GRAPH") ? getenv("PINNA_OFFLINE_GRAPH") : "");
  for (char *part; (part = strsep(&rest, " "));) {
    sscanf(part, "period=%d", &period);
    sscanf(part, "rate=%d", &rate);
    sscanf(part, "speed=%d", &speed);
    sscanf(part, "freewheel=%d", &freewheels);
    sscanf(part, "pipewire=%d", &is_pipewire);
    sscanf(part, "captures=%d", &captures);
    sscanf(part, "playbacks=%d", &playbacks);
  }
  add_physical("capture", captures, JackPortIsOutput);
  add_physical("playback", playbacks, JackPortIsInput);
  frame_clock = add_port(NULL, "frame-clock:out", JackPortIsOutput, 0);
  transport_clock = add_port(NULL, "frame-clock:transport", JackPortIsOutput, 0);
  pthread_create(&driver, NULL, drive, NULL);
  if (!is_listening++) pthread_create(&listener, NULL, listen_to_test, NULL);
}

// MARK: libjack: clients

// What asks the server waits while it stands still.
static void await_server(void) {
  while (__atomic_load_n(&is_frozen, __ATOMIC_ACQUIRE) && !__atomic_load_n(&is_dead, __ATOMIC_ACQUIRE)) usleep(1000);
}

// Whether a client has that name, here or in another program.
static int is_taken(const char *name) {
  char file[NAME + 8];
  for (int c = 0; c < MAX_CLIENTS; c++)
    if (clients[c].is_used && !clients[c].is_destroyed && !strcmp(clients[c].name, name)) return 1;
  snprintf(file, sizeof file, "client-%s", name);
  return !access(folder_file(file), F_OK);
}

jack_client_t *jack_client_open(const char *name, jack_options_t options, jack_status_t *status, ...) {
  (void)options;
  jack_client_t *client = NULL;
  await_server();
  pthread_mutex_lock(&requests);
  if (is_dead && !access(folder_file("down"), F_OK)) *status = JackFailure | JackServerFailed;
  else if (!access(folder_file("down"), F_OK) || access(folder_file("."), F_OK)) *status = JackFailure | JackServerFailed;
  else {
    if (is_dead) forget_server(); // Another server.
    start();
    *status = 0;
    if (is_taken(name)) *status = JackNameNotUnique; // PipeWire does not set JackFailure.
    for (int c = 0; c < MAX_CLIENTS && !*status && !client; c++)
      if (!clients[c].is_used && !clients[c].is_orphan) client = &clients[c];
  }
  if (client) {
    memset(client, 0, sizeof *client);
    snprintf(client->name, NAME, "%s", name);
    client->is_used = 1;
    opened++;
  }
  pthread_mutex_unlock(&requests);
  return client;
}

// PipeWire's libjack has no node then, and uses it.
static void demand_node(jack_client_t *client) {
  if (client->is_destroyed) end_process("Segmentation fault: the client has no node");
}

int jack_client_close(jack_client_t *client) {
  await_server();
  demand_node(client);
  if (client->connected_ports) end_process("double free or corruption (out)");
  pthread_mutex_lock(&requests);
  pthread_mutex_lock(&graph);
  client->is_active = 0;
  pthread_mutex_unlock(&graph);
  client->registration = NULL;
  client->connection = NULL;
  client->latency = NULL;
  client->client_registration = NULL;
  for (int p = 0; p < MAX_PORTS; p++)
    if (ports[p].is_used && ports[p].owner == client) remove_port(&ports[p]);
  client->is_used = client->is_orphan = 0;
  pthread_mutex_unlock(&requests);
  return 0;
}

int jack_activate(jack_client_t *client) {
  await_server();
  if (__atomic_load_n(&is_dead, __ATOMIC_ACQUIRE)) return -1;
  pthread_mutex_lock(&requests);
  if (is_pipewire) {
    __atomic_store_n(&joining, client, __ATOMIC_RELEASE);
    while (__atomic_load_n(&joining, __ATOMIC_ACQUIRE) && !is_dead) usleep(100);
  } else if (client->period) client->period((jack_nframes_t)period, client->period_context);
  if (client->freewheel) client->freewheel(freewheels, client->freewheel_context);
  pthread_mutex_lock(&graph);
  client->is_active = 1;
  pthread_mutex_unlock(&graph);
  tell_latencies();
  pthread_mutex_unlock(&requests);
  return 0;
}

char *jack_get_uuid_for_client_name(jack_client_t *client, const char *name) {
  (void)client;
  return is_taken(name) ? strdup("1") : NULL;
}

#define SETTER(function, Type, field) \
  int function(jack_client_t *client, Type callback, void *context) { \
    client->field##_context = context; \
    client->field = callback; \
    return 0; \
  }
SETTER(jack_set_process_callback, JackProcessCallback, process)
SETTER(jack_set_buffer_size_callback, JackBufferSizeCallback, period)
SETTER(jack_set_sample_rate_callback, JackSampleRateCallback, rate)
SETTER(jack_set_xrun_callback, JackXRunCallback, xrun)
SETTER(jack_set_freewheel_callback, JackFreewheelCallback, freewheel)
SETTER(jack_set_latency_callback, JackLatencyCallback, latency)
SETTER(jack_set_port_registration_callback, JackPortRegistrationCallback, registration)
SETTER(jack_set_port_connect_callback, JackPortConnectCallback, connection)
SETTER(jack_set_thread_init_callback, JackThreadInitCallback, thread_init)
SETTER(jack_set_client_registration_callback, JackClientRegistrationCallback, client_registration)
void jack_on_info_shutdown(jack_client_t *client, JackInfoShutdownCallback callback, void *context) {
  client->shutdown_context = context;
  client->shutdown = callback;
}
void jack_on_shutdown(jack_client_t *client, JackShutdownCallback callback, void *context) {
  (void)client, (void)callback, (void)context;
}
void jack_set_error_function(void (*function)(const char *)) { (void)function; }
void jack_set_info_function(void (*function)(const char *)) { (void)function; }

// MARK: libjack: the graph

const char *jack_get_version_string(void) {
  const char *properties = getenv("PINNA_OFFLINE_GRAPH");
  return properties && strstr(properties, "pipewire=1") ? "3.1.4.2 (using PipeWire 1.4.2, offline)" : "offline";
}
char *jack_get_client_name(jack_client_t *client) { return client->name; }
void jack_free(void *memory) { free(memory); }
int jack_is_realtime(jack_client_t *client) { return (void)client, is_pipewire; }
float jack_cpu_load(jack_client_t *client) { return (void)client, (float)load; }
jack_native_thread_t jack_client_thread_id(jack_client_t *client) {
  return is_pipewire && !client->is_active ? 0 : driver; // As in 1.6.
}
jack_nframes_t jack_get_buffer_size(jack_client_t *client) { return (void)client, (jack_nframes_t)period; }
jack_nframes_t jack_get_sample_rate(jack_client_t *client) { return (void)client, (jack_nframes_t)rate; }
jack_nframes_t jack_last_frame_time(const jack_client_t *client) { return (void)client, frame_time; }
int jack_get_cycle_times(
    const jack_client_t *client, jack_nframes_t *frames, jack_time_t *start, jack_time_t *end, float *length) {
  return (void)client, (void)frames, (void)start, (void)end, (void)length, -1;
}
int jack_set_buffer_size(jack_client_t *client, jack_nframes_t frames) {
  (void)client;
  await_server();
  if (is_dead || frames < 16 || frames > MAX_FRAMES) return -1;
  if (is_lazy) __atomic_store_n(&next_period, (int)frames, __ATOMIC_RELEASE);
  else set_period((int)frames);
  return 0;
}
int jack_set_freewheel(jack_client_t *client, int is_on) {
  (void)client;
  set_freewheel(is_on);
  return 0;
}
int jack_recompute_total_latencies(jack_client_t *client) {
  (void)client;
  if (is_dead) return -1;
  pthread_mutex_lock(&requests);
  tell_latencies();
  pthread_mutex_unlock(&requests);
  return 0;
}
jack_transport_state_t jack_transport_query(const jack_client_t *client, jack_position_t *position) {
  (void)client;
  memset(position, 0, sizeof *position);
  position->frame = transport_frame;
  return is_rolling ? JackTransportRolling : JackTransportStopped;
}

// MARK: libjack: ports

int jack_port_name_size(void) { return NAME; }
const char *jack_port_name(const jack_port_t *port) { return port->name; }
jack_port_t *jack_port_by_id(jack_client_t *client, jack_port_id_t id) {
  (void)client;
  return id < MAX_PORTS && ports[id].is_used ? &ports[id] : NULL;
}
jack_port_t *jack_port_by_name(jack_client_t *client, const char *name) {
  (void)client;
  pthread_mutex_lock(&graph);
  jack_port_t *port = find(name);
  pthread_mutex_unlock(&graph);
  return port;
}
jack_port_t *jack_port_register(
    jack_client_t *client, const char *name, const char *type, unsigned long flags, unsigned long size) {
  (void)size;
  char full[NAME];
  await_server();
  demand_node(client);
  snprintf(full, NAME, "%.150s:%.150s", client->name, name);
  return is_dead ? NULL : add_port(client, full, (int)flags, !strcmp(type, JACK_DEFAULT_MIDI_TYPE));
}
int jack_port_unregister(jack_client_t *client, jack_port_t *port) {
  await_server();
  demand_node(client);
  if (is_dead && port->was_connected) client->connected_ports--, port->was_connected = 0;
  if (!is_dead) remove_port(port);
  return 0;
}
void *jack_port_get_buffer(jack_port_t *port, jack_nframes_t frames) {
  (void)frames;
  return port->is_midi ? (void *)port->midi : (void *)port->samples;
}
uint32_t jack_midi_get_event_count(void *buffer) { return ((struct midi *)buffer)->count; }
int jack_midi_event_get(jack_midi_event_t *event, void *buffer, uint32_t n) {
  struct midi *midi = buffer;
  if (n >= midi->count) return ENODATA;
  *event = (jack_midi_event_t){0, midi->events[n].size, midi->events[n].bytes};
  return 0;
}
int jack_port_set_alias(jack_port_t *port, const char *alias) {
  snprintf(port->alias[port->alias[0][0] != 0], NAME, "%s", alias);
  return 0;
}
int jack_port_get_aliases(const jack_port_t *port, char *const aliases[2]) {
  int count = 0;
  for (int n = 0; n < 2; n++)
    if (port->alias[n][0]) snprintf(aliases[count++], NAME, "%s", port->alias[n]);
  return count;
}
void jack_port_get_latency_range(jack_port_t *port, jack_latency_callback_mode_t mode, jack_latency_range_t *range) {
  *range = port->latency[mode];
  // A port reports the latencies of its peers, where it is not their origin.
  int is_origin = (mode == JackCaptureLatency) == ((port->flags & JackPortIsOutput) != 0);
  if (is_origin) return;
  pthread_mutex_lock(&graph);
  for (int at = 0, first = 1; at < wire_count; at++) {
    jack_port_t *peer = wires[at].to == port ? wires[at].from : wires[at].from == port ? wires[at].to : NULL;
    if (!peer) continue;
    if (first || peer->latency[mode].min < range->min) range->min = peer->latency[mode].min;
    if (first || peer->latency[mode].max > range->max) range->max = peer->latency[mode].max;
    first = 0;
  }
  pthread_mutex_unlock(&graph);
}
void jack_port_set_latency_range(jack_port_t *port, jack_latency_callback_mode_t mode, jack_latency_range_t *range) {
  port->latency[mode] = *range;
}

// A list that ends with NULL, in one block; NULL if it is empty.
static const char **names_of(jack_port_t *const *found, int count) {
  if (!count) return NULL;
  char **names = zeroed((size_t)(count + 1) * sizeof *names + (size_t)count * NAME);
  char *text = (char *)(names + count + 1);
  for (int n = 0; n < count; n++, text += NAME) names[n] = strcpy(text, found[n]->name);
  return (const char **)names;
}

const char **jack_get_ports(jack_client_t *client, const char *pattern, const char *type, unsigned long flags) {
  (void)client;
  jack_port_t *found[MAX_PORTS];
  int count = 0;
  if (is_dead) return NULL;
  pthread_mutex_lock(&graph);
  for (int p = 0; p < MAX_PORTS; p++)
    if (ports[p].is_used && ((unsigned long)ports[p].flags & flags) == flags && (!pattern || strstr(ports[p].name, pattern))
        && (!type || !*type || (strcmp(type, JACK_DEFAULT_MIDI_TYPE) == 0) == ports[p].is_midi))
      found[count++] = &ports[p];
  const char **names = names_of(found, count);
  pthread_mutex_unlock(&graph);
  return names;
}
const char **jack_port_get_all_connections(const jack_client_t *client, const jack_port_t *port) {
  (void)client;
  jack_port_t *found[MAX_WIRES];
  int count = 0;
  pthread_mutex_lock(&graph);
  for (int at = 0; at < wire_count; at++) {
    if (wires[at].from == port) found[count++] = wires[at].to;
    else if (wires[at].to == port) found[count++] = wires[at].from;
  }
  const char **names = names_of(found, count);
  pthread_mutex_unlock(&graph);
  return names;
}
const char **jack_port_get_connections(const jack_port_t *port) { return jack_port_get_all_connections(NULL, port); }

int jack_connect(jack_client_t *client, const char *source, const char *destination) {
  (void)client;
  await_server();
  jack_port_t *from = find(source), *to = find(destination);
  int is_possible = from && to && !is_dead && (from->flags & JackPortIsOutput) && (to->flags & JackPortIsInput);
  return is_possible && from->is_midi == to->is_midi ? set_wire(from, to, 1) : -1;
}
int jack_disconnect(jack_client_t *client, const char *source, const char *destination) {
  (void)client;
  await_server();
  jack_port_t *from = find(source), *to = find(destination);
  return from && to && !is_dead ? set_wire(from, to, 0) : -1;
}
