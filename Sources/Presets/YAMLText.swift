/// `text` as a double-quoted YAML string.
func yamlString(_ text: String) -> String {
  "\"\(text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined())\""
}
