#pragma once
#include <lv2/atom/atom.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/core/lv2.h>
#include <lv2/log/log.h>
#include <lv2/options/options.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>

// Swift cannot call the variadic function itself.
static inline void pinna_lv2_log(const LV2_Log_Log *log, LV2_URID type, const char *text) {
  log->printf(log->handle, type, "%s\n", text);
}

// dladdr(3), which the headers hide from Swift: the file that an address was loaded from.
typedef struct {
  const char *file;
  void *base;
  const char *symbol;
  void *address;
} pinna_loaded_file;
extern int pinna_dladdr(const void *, pinna_loaded_file *) __asm__("dladdr");
