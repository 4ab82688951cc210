// A program that imports PinnaSession needs no other import.
@_exported import PinnaRemote
