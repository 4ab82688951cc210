import Figures
import Foundation
import Testing
import pinna

@Suite("The table of a report") struct ReportTableTests {
  /// Figures, losses in brackets where they are not negligible, absent octaves, and a case that is not
  /// offered.
  private static let report = #"""
    {"preset":"pair","sampleRate":48000,"remarks":[],"cases":[
      {"dataSource":"Front","polarPattern":"stereo","inputOrientation":"portrait","taps":256,"delayFrames":64,
       "supported":true,"reason":null,"separationDB":7.94,"frontBackDB":-0.04,"heardAtSidesDegrees":52.4,"diffuseErrorDB":{"125":0.91,"1000":-1.24},"ildErrorHighDB":2.5,
       "ildErrorLowDB":1.25,"itdErrorMicroseconds":85.4,"noiseGainDB":12,
       "octaveErrorDB":{"250":1.5},"heardBehindDegrees":14.6,"frontErrorDB":{"100":-1,"1000":3,"1600":-2.54,"6300":0.5},
       "heardDegrees":{"0":-0.4,"15":9,"30":28,"90":52.4,"180":-3,"-165":-14.6,"-90":-60},
       "targetHeardDegrees":{"0":0,"30":47,"90":90,"-90":-90},
       "losses":{"separationDB":{"mean":0.31,"tail":0.9,"worst":1},"noiseGainDB":{"mean":0.02,"tail":0.1,"worst":0.1},
         "heardBehindDegrees":{"mean":2.2,"tail":3,"worst":4}}},
      {"dataSource":"Front","polarPattern":"cardioid","inputOrientation":null,"taps":256,"delayFrames":64,
       "supported":true,"reason":null,"aliasingHz":4240,"weakness":"sound from behind is only 9 dB softer","directivityIndexDB":{"125":4.7,"1000":4.8},"onAxisDB":{"125":-11.25},
       "losses":{"directivityIndexDB":{"125":{"mean":-0.4,"tail":0.3,"worst":0.4}}}},
      {"dataSource":"Back","polarPattern":"stereo","inputOrientation":"landscapeLeft","taps":256,
       "delayFrames":64,"supported":false,"reason":"the microphones lie on one line","losses":null,
       "separationCeilingDB":{"1000":3}}
    ]}
    """#

  @Test("the table has a row per stereo case, a block per mono pattern, and the cases that are not offered")
  func table() throws {
    let report = try JSONDecoder().decode(Report.self, from: Data(Self.report.utf8))
    let text = """
      pair at 48000 Hz: 256 taps, 64 frames of delay
      In brackets: loss through microphone errors of up to 1 dB and 1 mm, mean of 30 draws.

      Stereo, dB: left over right at ±90°; front over back; where voices at ±90° are heard, and at most how far off the
      middle those from 165° to 195°; time difference: error against a listener's, largest jump within 5°; error of the
      level difference (1.5–12 kHz); highest noise gain; deepest dip straight ahead, by third octave. Below: where voices
      are heard, once around to the left; errors of tone and of interaural coherence in a diffuse field.

      Stereo                     left/right   front/back   sides at °    back at °       ITD µs     ITD jump     ILD high   noise gain    front dip
      Front, portrait              7.9 (0.3)    0.0           52           15 (2)       85            –          2.5         12.0         -2.5 at 1.6k

      Heard at °, voice from         0    30    60    90   120   150   165   180  -165  -150  -120   -90   -60   -30
      a listener's own ears          0    47     –    90     –     –     –     –     –     –     –   -90     –     –
      Front, portrait                0    28     –    52     –     –     –    -3   -15     –     –   -60     –     –

      Diffuse, by octave in Hz     125          250          500           1k           2k           4k           8k
      Front, portrait
        tone dB                    0.9            –            –         -1.2            –            –            –

      Mono, by octave in Hz        125          250          500           1k           2k           4k           8k          12k
      Front, cardioid, aliased above 4.2 kHz
        directivity index dB       4.7 (-0.4)     –            –          4.8            –            –            –            –
        on axis dB               -11.2            –            –            –            –            –            –            –

      Not offered:
        Back, stereo, landscapeLeft: the microphones lie on one line

      Weak:
        Front, cardioid: sound from behind is only 9 dB softer
      """
    #expect(ReportTable(report).text == text)
  }

  @Test("long figures and long names keep a space before the next column, and columns stay in line")
  func wide() throws {
    let name = "Everything-before-the-loudspeakers"
    let json = Self.report.replacing("\"Front\"", with: "\"\(name)\"")
      .replacing("{\"125\":4.7,\"1000\":4.8}", with: "{\"125\":-120,\"250\":-118.5,\"500\":4.5}")
      .replacing("{\"mean\":-0.4,", with: "{\"mean\":93.4,")
      .replacing("\"separationDB\":7.94", with: "\"separationDB\":-1234.56")
    let lines = ReportTable(try JSONDecoder().decode(Report.self, from: Data(json.utf8))).text
      .components(separatedBy: "\n")
    let stereo = try #require(lines.first { $0.hasPrefix("\(name), portrait ") })
    #expect(stereo.contains(#/portrait +-1234\.6 \(0\.3\) +0\.0 /#), "\(stereo)")
    let mono = try #require(lines.first { $0.contains("directivity index") })
    #expect(mono.contains(#/dB +-120\.0 \(93\.4\) +-118\.5 +4\.5 /#), "\(mono)")
    // A column's figures end where those of the next row do.
    let head = try #require(lines.first { $0.hasPrefix("Mono, by octave") })
    let onAxis = try #require(lines.first { $0.contains("on axis dB") })
    func column(_ line: String, _ text: String) throws -> Int {
      line.distance(from: line.startIndex, to: try #require(line.firstRange(of: text)).upperBound)
    }
    #expect(
      try column(head, "1k")
        == onAxis.distance(from: onAxis.startIndex, to: Array(onAxis.ranges(of: "–"))[2].upperBound))
  }
}
