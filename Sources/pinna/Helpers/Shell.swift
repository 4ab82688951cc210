import Acoustics

/// The supported shells and their completion scripts. If Pinna has no candidates, the shell completes file names.
enum Shell: String, NamedWord {
  case bash, zsh, fish

  static let kind = "shell"

  /// `path` as one word of a command, quoted where it has to be.
  static func word(_ path: String) -> String {
    let isPlain = path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+".contains($0)) }
    return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
  }

  var completions: String {
    switch self {
    case .bash:
      """
      _pinna() {
        local IFS=$'\\n'
        COMPREPLY=($("${COMP_WORDS[0]}" \(Candidates.word) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
      }
      complete -o default -F _pinna pinna
      """
    case .zsh:
      """
      #compdef pinna
      _pinna() {
        local -a candidates
        candidates=(${(f)"$("${words[1]}" \(Candidates.word) "${(@)words[2,CURRENT]}" 2>/dev/null)"})
        if (( $#candidates )); then compadd -- $candidates; else _files; fi
      }
      # As a file of the completion system, its first call is one for candidates.
      if [[ ${funcstack[1]} == _pinna ]]; then _pinna "$@"; else compdef _pinna pinna; fi
      """
    case .fish:
      """
      complete -c pinna -a '(pinna \(Candidates.word) (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
      """
    }
  }
}
