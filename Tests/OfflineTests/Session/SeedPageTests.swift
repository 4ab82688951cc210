import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// The listings of the seeds, compiled, beside our programs that make the same calls. By hand, after
  /// `swift build -c release --build-tests`:
  ///
  ///     PINNA_NIGHTLY=1 swift test -c release --skip-build --filter OfflineTests/SeedPageTests
  @Suite(
    "S24: The seeds' own listings", .enabled(if: SeedPage.areThere, "there is no ../shared/seeds"),
    .nightly)
  struct SeedPageTests {
    @Test("S24: the sample prints of every data source what our program prints", arguments: ["000", "004"])
    func sample(page: String) throws {
      let program = try SeedProgram("Sample", SeedPage(page).fenced)
      for preset in ["phone5", "phone3"] {
        let ours = try OfflineGraph(preset: preset).output(of: "stereo")
        #expect(try program.output(in: OfflineGraph(preset: preset)) == ours)
      }
    }

    @Test("S24: the talk's view follows the orientation as our program does, and not during a recording")
    func talk() throws {
      let listings = try SeedPage("001").folded
      try #require(listings.count == 3)
      let signature = "(named name: String, orientation: Orientation, completion: (String) -> Void)"
      let lookUp = """

        let preferredInput = session.preferredInput!
        let newDataSource = preferredInput.dataSources!.filter { $0.dataSourceName == name }[0]
        do {

        """
      let end = """

        } catch { print(error) }
        completion(shown)

        """
      // The second listing elides its parameters, how it finds the data source, and what becomes of errors.
      let program = try SeedProgram(
        "Talk",
        [
          SeedListing.unfolding(listings[0]),
          SeedListing.unfolding(
            listings[1].replacing("(...)", with: signature), ellipses: [lookUp, end]),
          SeedListing.unfolding(listings[2]),
        ])
      let ours = try OfflineGraph(preset: "phone5").output(of: "recorder")
      #expect(try program.output(in: OfflineGraph(preset: "phone5")) == ours)
    }

    @Test("S24: the guide's listings print what the page says and what our programs print")
    func guide() throws {
      let page = try SeedPage("002")
      // A heading, what is said of the listing, the listing, what is said of its output, the output.
      let cardioid = try page.paragraphs(from: "Putting It All")
      // The first and the last listing stand below their captions; the last one lost its end.
      let program = try SeedProgram(
        "Guide",
        [
          try page.paragraphs(from: "Listing 5-1")[1], cardioid[2],
          try page.paragraphs(from: "Listing 5-2")[1] + "\n#endif",
        ].map(SeedListing.closingBlocks))
      let hardware = try program.output(in: OfflineGraph(preset: "phone3"))
      #expect(values(of: hardware) == values(of: try OfflineGraph(preset: "phone3").output(of: "hardware")))
      let printed = try program.output(in: OfflineGraph(preset: "phone3"), "cardioid")
      #expect(printed.hasSuffix("\n\(cardioid[4])\n"), "\(printed)")
      #expect(values(of: printed) == values(of: try OfflineGraph(preset: "phone3").output(of: "cardioid")))
    }

    /// What stands behind colons, up to a comma or the line's end.
    private func values(of output: String) -> [String] {
      output.matches(of: /: ([^,\n]+)/).map { String($0.output.1) }
    }

    @Test("S24: the answer's console shows what our program prints of the same phone")
    func answer() throws {
      // In Objective-C, so that only its output can be compared.
      let console = try SeedPage("003").paragraphs(from: "Listing 1 will")[1]
        .replacing("AVAudioSession", with: "").replacing(/0x[0-9a-f]+/, with: "0x")
      let phone = try #require(console.firstMatch(of: /; name = ([^;]+); UID = ([^;]+);/)).output
      let home = try PinnaHome.handheld(title: String(phone.1), uid: String(phone.2))
      let ours = try OfflineGraph(preset: "handheld", home: home).output(of: "front-microphone")
      // Descriptions, names in quotation marks, of which the last is garbled, and numbers that stand alone.
      let facts = console.matches(of: #/"?(<[^>]+>)"?|"([A-Za-z ]+)[^A-Za-z ]| ([0-9]+) /#).map {
        String($0.output.1 ?? $0.output.2 ?? $0.output.3 ?? "")
      }
      #expect(facts.count == 9, "\(facts)")
      let told = ours.split(separator: "\n").flatMap { line in
        let text = line.drop { $0 != " " }.dropFirst()
        return ["before", "wanted"].contains { line.hasPrefix($0) }
          ? text.split(separator: " of ").map(String.init) : [String(text)]
      }
      #expect(told == facts)
    }
  }
}
