#!/bin/sh
# pyfar 0.8.1: read_sofa drops the delays of a SOFA file, and with them the time between the ears.
#
# Guessed: a SOFA file that has its delays in Data.Delay (AES69 allows it; minimum-phase HRTF sets do it) is read with
# the delays in the impulse responses, or with a warning.
# Happens: what is read is Data.IR alone, whatever Data.Delay says: no warning, and nothing in the answer by which one
# could know. A source at the left arrives in both ears at the same sample instead of 32 apart.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
packages="pyfar==0.8.1 sofar==1.3.0 numpy==2.2.6 scipy==1.15.3"
if ! { python3 -m venv env && env/bin/pip install --quiet $packages; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import warnings
import numpy as np
import pyfar
import sofar

file = sofar.Sofa("SimpleFreeFieldHRIR")
file.SourcePosition = np.array([[0, 0, 1.5], [90, 0, 1.5], [270, 0, 1.5]])
file.ReceiverPosition = np.array([[0, 0.09, 0], [0, -0.09, 0]])
file.Data_SamplingRate = 48000
file.Data_IR = np.zeros((3, 2, 128))
file.Data_IR[:, :, 5] = 1
file.Data_Delay = np.array([[16.0, 16.0], [0.0, 32.0], [32.0, 0.0]])
file.verify()
sofar.write_sofa("ears.sofa", file)

with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    signal = pyfar.io.read_sofa("ears.sofa")[0]
peaks = np.argmax(np.abs(signal.time), axis=-1).tolist()
kept = sofar.read_sofa("ears.sofa", verbose=False).Data_Delay.tolist()
print("Data.Delay in the file:", kept)
print("peaks read, left and right, front, left, right:", peaks)
print("warnings:", [str(warning.message) for warning in warned])
stated = peaks == [[5, 5]] * 3 and kept == [[16, 16], [0, 32], [32, 0]] and not warned
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
