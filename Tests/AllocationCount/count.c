#include "count.h"
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Thread_local int counting;
static _Thread_local long calls;

void count_begin(void) {
  calls = 0;
  counting = 1;
}
long count_end(void) {
  counting = 0;
  return calls;
}

void *malloc(size_t size) {
  calls += counting;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  calls += counting;
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  calls += counting;
  return __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
  calls += counting;
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}
void free(void *memory) {
  calls += counting;
  __libc_free(memory);
}
