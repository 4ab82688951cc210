#!/bin/sh
# PipeWire 0.3.65 (Debian 12): the frame time of a cycle changes while a callback of that cycle runs.
#
# Guessed: jack_last_frame_time tells the same time at the beginning and at the end of a callback, however long that takes:
# libjack's documentation calls it the start of the current cycle.
# Happens: the client reads the driver's clock where it is by then. A callback that is late reads the time of the next
# cycle, and its next call has the same time once more: by the frame times a cycle was lost between two callbacks, and then
# one came twice, while nothing was lost. (jackd 1.9.21 without -S
# does the same, by the same measurement; PipeWire 1.4.2 keeps a copy per cycle, by its source.)
set -eu
dir=$(mktemp -d)
daemon=
trap 'test -z "$daemon" || kill $daemon; rm -rf "$dir"' EXIT
cd "$dir"
version=0.3.65-3+deb12u1
if ! { for name in pipewire-bin pipewire-jack libpipewire-0.3-0 libpipewire-0.3-modules libspa-0.2-modules; do
  apt-get download $name=$version && dpkg -x $name*.deb root || exit 1
done && python3 -m venv env && env/bin/pip install --quiet JACK-Client==0.5.5; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu)
cat >pipewire.conf <<'CONF'
context.properties = {
  core.daemon = true  core.name = pipewire-0  support.dbus = false  default.clock.quantum = 1024
}
context.spa-libs = { support.* = support/libspa-support }
context.modules = [
  { name = libpipewire-module-protocol-native }
  { name = libpipewire-module-spa-node-factory }
  { name = libpipewire-module-client-node }
  { name = libpipewire-module-access }
  { name = libpipewire-module-metadata }
  { name = libpipewire-module-link-factory }
]
context.objects = [
  { factory = spa-node-factory
    args = { factory.name = support.node.driver  node.name = Driver  node.group = pipewire.dummy  priority.driver = 20000 } }
]
CONF
chmod 700 .
export LD_LIBRARY_PATH="$lib/pipewire-0.3/jack:$lib" SPA_PLUGIN_DIR="$lib/spa-0.2" PIPEWIRE_MODULE_DIR="$lib/pipewire-0.3"
export DBUS_SESSION_BUS_ADDRESS=disabled: PIPEWIRE_RUNTIME_DIR="$dir"
PIPEWIRE_CONFIG_DIR="$dir" "$dir/root/usr/bin/pipewire" >daemon.txt 2>&1 &
daemon=$!
cp -r root/usr/share/pipewire conf
export PIPEWIRE_CONFIG_DIR="$dir/conf"
sleep 1
timeout 60 env/bin/python - <<'PYTHON'
import sys
import time
import jack

client = jack.Client("late", no_start_server=True)
frames = client.blocksize
port = client.outports.register("out")
calls = []


@client.set_process_callback
def process(count):
    begin = client.last_frame_time
    if len(calls) % 20 == 10:
        time.sleep(1.5 * frames / client.samplerate)
    calls.append((begin, client.last_frame_time, count))


with client:
    time.sleep(8)
late = [(first, last) for first, last, count in calls if first != last]
on_time = len(calls) - len(late)
print(f"{len(calls)} callbacks of {frames} frames, {len(calls) // 20} of them late")
print(f"{len(late)} began and ended in different cycles, by their frame times; for example {late[:3]}")
stated = len(calls) > 100 and len(late) >= len(calls) // 20 - 3 and all(last > first for first, last in late)
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
