#!/bin/sh
# mido 1.3.3: of messages with running status, its parser keeps the first and drops the others without a word.
#
# Guessed: bytes as a control surface sends them are parsed whole: the MIDI standard lets a sender leave out a status byte that
# repeats, and mido's reader of MIDI files takes that.
# Happens: a turned knob that sends "B0 07 64 07 65 07 66" is one message, not three, and a chord its first note.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet mido==1.3.3; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import io
import sys
import mido

knob = bytes.fromhex("B0 07 64 07 65 07 66")
parsed = mido.parse_all(knob)
track = bytes.fromhex("00 B0 07 64 00 07 65 00 07 66 00 FF 2F 00")
file = b"MThd" + bytes([0, 0, 0, 6, 0, 0, 0, 1, 0, 96]) + b"MTrk" + len(track).to_bytes(4, "big") + track
read = [message for message in mido.MidiFile(file=io.BytesIO(file)).tracks[0] if not message.is_meta]
print("parsed:", [message.value for message in parsed])
print("the same in a file:", [message.value for message in read])
stated = [m.value for m in parsed] == [100] and [m.value for m in read] == [100, 101, 102]
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
