#pragma once

/// A file of the page, as it is compiled in.
struct page_file {
  /// What a request names.
  const char *_Nonnull path;
  /// Its MIME type.
  const char *_Nonnull type;
  const unsigned char *_Nonnull bytes;
  unsigned long count;
};

/// - Returns: null if there is no such file.
const struct page_file *_Nullable page_file(const char *_Nonnull path);
