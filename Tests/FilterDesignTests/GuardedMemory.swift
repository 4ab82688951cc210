import Glibc

/// Memory that ends at an unreadable page: an access past its end crashes.
struct GuardedMemory<Element> {
  let elements: UnsafeMutablePointer<Element>

  init(count: Int) {
    let page = 4096
    let bytes = count * MemoryLayout<Element>.stride
    let pages = (bytes + page - 1) / page * page
    let start = mmap(nil, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    precondition(start != MAP_FAILED)
    mprotect(start + pages, page, PROT_NONE)
    elements = (start + pages - bytes).bindMemory(to: Element.self, capacity: count)
  }
}
