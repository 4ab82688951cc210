import Foundation
import Threads

/// A JACK client that plays the server's frame time: a counter of 23 bits, which floats represent exactly. It
/// wraps after three minutes, so that every frame of a shorter take identifies itself.
///
/// The client is a separate process (`Tests/FrameClock`): tests close it repeatedly while others join, and
/// libjack may then leave a lock taken for the rest of the process.
public final class FrameClock {
  public static let port = "frame-clock:out"
  /// In a graph without a server: plays the transport's frame while it rolls, coded like the frame time.
  public static let transportPort = "frame-clock:transport"
  private let process: HelperProcess

  public init(server: String) throws {
    guard let process = HelperProcess(try PinnaHome.built("frame-clock"), words: [server]) else {
      throw SupportError("the frame clock does not start")
    }
    self.process = process
    let status = try ask("open")
    guard status == "0" else { throw SupportError("the frame clock is not let in: status \(status)") }
  }

  private func ask(_ order: String) throws -> String {
    guard let answer = process.ask(Array(order.utf8)) else { throw SupportError("the frame clock has ended") }
    return String(decoding: answer, as: UTF8.self)
  }

  private func number(_ order: String) throws -> Int {
    let answer = try ask(order)
    guard let number = Int(answer) else { throw SupportError("the frame clock says \(answer) to \(order)") }
    return number
  }

  /// Spans of frame time that the server played without the clock, or in which the clock was late by at least half a
  /// period. What readers of the clock's port received there is undefined. Ask for them after the frames of interest have
  /// been played.
  public func missed() throws -> [Range<Int>] {
    try spans().filter { $0.frames > 0 }.map { $0.start..<$0.start + $0.frames }
  }

  /// Where the server's frame time fell back, as PipeWire's does from 1.4 on where the period changes: the frame time that
  /// was due, and that which came.
  public func falls() throws -> [Int: Int] {
    Dictionary(try spans().filter { $0.frames < 0 }.map { ($0.start, ($0.start + $0.frames) & 0x7F_FFFF) }) {
      $1
    }
  }

  private func spans() throws -> [(start: Int, frames: Int)] {
    try (0..<number("missed")).map { n in
      let span = try ask("missed \(n)").split(separator: " ").compactMap { UInt32($0) }
      return (Int(span[0] & 0x7F_FFFF), Int(Int32(bitPattern: span[1])))
    }
  }

  /// Succeeds if Pinna has already restored the connection.
  public func connect(to microphone: String) throws {
    let fault = try ask("connect \(microphone)")
    guard fault == "0" else {
      throw SupportError("the frame clock cannot be connected to \(microphone): \(fault)")
    }
  }

  /// The frames that the clock has played.
  public func played() throws -> Int { try number("played") }

  /// Waits until the clock has played `frames` more. The server's frame time is no measure: it runs ahead
  /// while a period is late.
  public func wait(frames: Int) throws {
    var played = try played()
    let end = played + frames
    let isOver = try waitUntil(seconds: 60) {
      played = try self.played()
      return played >= end
    }
    guard isOver else { throw SupportError("the clock has played \(played) frames after 60 s, not \(end)") }
  }

  /// A clock sample. Never zero, which would be silence.
  public static func sample(_ time: UInt32) -> Float { (Float(time & 0x7F_FFFF) + 0.5) / 8_388_608 }

  /// The frame time of a sample, modulo 2²³; nil for silence.
  public static func time(_ sample: Float) -> Int? { sample == 0 ? nil : Int(sample * 8_388_608) }
}
