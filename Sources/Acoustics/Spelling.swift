/// A spelling suggestion such as " (did you mean cardioid?)", or "" if there is no unique nearest choice.
///
/// Case is ignored. A choice is suggested if its edit distance is at most a third of the length of `word`.
public func didYouMean(_ word: String, among choices: [String]) -> String {
  guard (1...64).contains(word.utf8.count) else { return "" }
  let distances = choices.map { editDistance(word.lowercased(), $0.lowercased()) }
  guard let least = distances.min(), least <= max(1, word.count / 3),
    let nearest = distances.firstIndex(of: least), distances.count(where: { $0 == least }) == 1
  else { return "" }
  return " (did you mean \(choices[nearest])?)"
}

/// The number of insertions, deletions, substitutions and adjacent transpositions that turn `a` into `b`.
/// - Source: optimal string alignment, a restricted Damerau-Levenshtein distance.
private func editDistance(_ a: String, _ b: String) -> Int {
  let (a, b) = (Array(a), Array(b))
  var rows = [Array(0...b.count)]
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
      row.append(least)
    }
    rows.append(row)
  }
  return rows[a.count][b.count]
}
