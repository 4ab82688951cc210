"""A2: loudness of speech straight ahead in all cases of a device, within 0.5 LU."""
import sys

from loudness import main

spreads = {preset: main(preset, preset, ['speech']) for preset in ['phone5', 'phone4', 'ring7', 'linear8', 'glasses8', 'tetra']}
missed = [preset for preset, spread in spreads.items() if spread > 0.5]
for preset in missed:
    print(f'MISSED: A2, {preset}: {spreads[preset]:.1f} LU instead of 0.5')
sys.exit(1 if missed else 0)
