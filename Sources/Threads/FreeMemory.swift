import CFiles

/// What the allocator of the C library does with memory that the program has freed. Any thread.
package enum FreeMemory {
  /// Lets all threads share two arenas. By default there are eight for each core; a design fills some 35 MB of every
  /// arena that one of its threads meets, and most of that stays. For the whole process: only a program may call it, at
  /// its start.
  package static func useTwoArenas() { mallopt(M_ARENA_MAX, 2) }

  /// Gives free pages of all arenas back to the system. Other threads wait for it if they allocate meanwhile.
  package static func giveBack() { malloc_trim(0) }
}
