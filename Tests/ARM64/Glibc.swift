@_exported import CGlibc

// What Swift's own module Glibc adds to the C library, as far as the engine uses it.

public func open(_ path: String, _ flags: Int32) -> Int32 { pinna_open(path, flags) }
public var errno: Int32 { pinna_errno() }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var MAP_FAILED: UnsafeMutableRawPointer { pinna_map_failed() }
