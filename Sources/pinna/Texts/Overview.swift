/// The verbs under the headings of `pinna help`. One line for each verb, or for verbs that share their first word.
enum Overview {
  struct Line {
    let verbs: [Verb]
    let summary: String

    init(_ verbs: Verb..., summary: String) { (self.verbs, self.summary) = (verbs, summary) }

    /// "run", or the first word of several verbs: "preset".
    var word: String { String(verbs[0].name.prefix { $0 != " " }) }

    /// What the verbs do: "list, show, use: settings under a name" for several.
    var text: String {
      let words = verbs.compactMap { $0.name.split(separator: " ").dropFirst().first.map(String.init) }
      return words.isEmpty ? summary : words.joined(separator: ", ") + ": " + summary
    }
  }

  static var groups: KeyValuePairs<String, [Line]> {
    [
      "First steps": [
        Line(.demo, summary: "show everything with simulated voices, in under a minute"),
        Line(.doctor, summary: "say what stands in the way of reliable sound, and the remedy"),
        Line(.detect, summary: "say which microphone arrays are plugged in, and how to start"),
      ],
      "Run": [
        Line(.run, summary: "run the processor as a JACK client, in the foreground"),
        Line(.status, summary: "show what the running Pinna is doing"),
        Line(.talkers, summary: "tell who speaks where"),
        Line(.monitor, summary: "watch and control it in a terminal"),
        Line(.set, summary: "change input, data source, polar pattern, orientation, gain …"),
        Line(.feedList, .feedAdd, .feedRemove, summary: "several feeds at once"),
        Line(.inputs, summary: "list inputs, data sources and their polar patterns"),
        Line(.forget, summary: "forget connections that would be made again"),
        Line(.stop, summary: "stop it; a take in progress is finalised"),
      ],
      "Record and play": [
        Line(.recordStart, .recordStop, .recordMarker, .recordTitle, summary: "a take"),
        Line(.takesList, .takesEdit, .takesRepair, summary: "the takes so far"),
        Line(.play, summary: "play a take in place of the microphones"),
      ],
      "Presets and MIDI": [
        Line(
          .presetList, .presetShow, .presetUse, .presetCancel, .presetSave, .presetCheck,
          summary: "settings by name"),
        Line(.bankList, .bankShow, .bankSave, .bankUse, summary: "presets for MIDI program changes"),
        Line(.midiLearn, summary: "let a MIDI controller change a setting"),
      ],
      "Microphone arrays": [
        Line(.deviceNew, .deviceCheck, summary: "the file that describes an array"),
        Line(.arrayCheck, .arrayCalibrate, summary: "an array, from ordinary sound"),
        Line(.check, summary: "check that voices from all sides come out correctly"),
      ],
      "Filters and files, without a server": [
        Line(.design, summary: "design the filters of a device"),
        Line(.report, summary: "print and plot acoustic figures of a preset's device"),
        Line(.export, summary: "write filters for other convolvers"),
        Line(.render, summary: "do what run does, from sound file to sound file"),
        Line(.simulate, summary: "compute what an array's microphones hear in a scene"),
        Line(.bench, summary: "measure how much of each period the engine takes"),
      ],
    ]
  }

  /// At most 40 lines of at most 80 columns.
  static var text: String {
    let width = groups.flatMap(\.value).map(\.word.count).max()!
    let sections = groups.map { heading, lines in
      ([heading] + lines.map { "  \($0.word.padded(width))  \($0.text)" }).joined(separator: "\n")
    }
    return """
      Pinna gives any microphone array in a JACK graph what phones give theirs.
      usage: pinna VERB [options]; pinna help VERB shows the options of a verb
      \(sections.joined(separator: "\n\n"))
      """
  }
}
