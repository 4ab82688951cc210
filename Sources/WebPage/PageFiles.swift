/// The page's own files, which are compiled in. Any thread.
enum PageFiles {
  /// - Parameter path: of a request.
  /// - Returns: nil if there is no such file.
  static func response(_ path: String) -> PageResponse? {
    switch path {
    case "/": .bytes(PackageResources.page_html, type: "text/html; charset=utf-8")
    case "/page.css": .bytes(PackageResources.page_css, type: "text/css; charset=utf-8")
    case "/page.js": .bytes(PackageResources.page_js, type: script)
    case "/controls.js": .bytes(PackageResources.controls_js, type: script)
    case "/drawings.js": .bytes(PackageResources.drawings_js, type: script)
    case "/feeds.js": .bytes(PackageResources.feeds_js, type: script)
    case "/looks.js": .bytes(PackageResources.looks_js, type: script)
    case "/poses.js": .bytes(PackageResources.poses_js, type: script)
    case "/takes.js": .bytes(PackageResources.takes_js, type: script)
    case "/icon.svg": .bytes(PackageResources.icon_svg, type: "image/svg+xml")
    default: nil
    }
  }

  private static let script = "text/javascript; charset=utf-8"
}
