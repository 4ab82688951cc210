extension String {
  /// The members of a list with commas, without blanks at their ends. A backslash before a comma, or before another
  /// backslash, makes that a part of a name.
  package var listed: [String] {
    var (members, member) = ([String](), "")
    var rest = self[...]
    while let character = rest.popFirst() {
      if character == "\\", let next = rest.first, next == "," || next == "\\" {
        member.append(rest.removeFirst())
      } else if character == "," {
        members.append(member.trimmed())
        member = ""
      } else {
        member.append(character)
      }
    }
    return members + [member.trimmed()]
  }
}
