#include "PageResources.h"
#include <string.h>

static const unsigned char page_html[] = {
#embed "../WebPage/Resources/page.html"
};
static const unsigned char page_css[] = {
#embed "../WebPage/Resources/page.css"
};
static const unsigned char page_js[] = {
#embed "../WebPage/Resources/page.js"
};
static const unsigned char controls_js[] = {
#embed "../WebPage/Resources/controls.js"
};
static const unsigned char drawings_js[] = {
#embed "../WebPage/Resources/drawings.js"
};
static const unsigned char feeds_js[] = {
#embed "../WebPage/Resources/feeds.js"
};
static const unsigned char looks_js[] = {
#embed "../WebPage/Resources/looks.js"
};
static const unsigned char poses_js[] = {
#embed "../WebPage/Resources/poses.js"
};
static const unsigned char takes_js[] = {
#embed "../WebPage/Resources/takes.js"
};
static const unsigned char icon_svg[] = {
#embed "../WebPage/Resources/icon.svg"
};

#define SCRIPT "text/javascript; charset=utf-8"
#define FILE(path, type, bytes) { path, type, bytes, sizeof bytes }

static const struct page_file files[] = {
  FILE("/", "text/html; charset=utf-8", page_html),
  FILE("/page.css", "text/css; charset=utf-8", page_css),
  FILE("/page.js", SCRIPT, page_js),
  FILE("/controls.js", SCRIPT, controls_js),
  FILE("/drawings.js", SCRIPT, drawings_js),
  FILE("/feeds.js", SCRIPT, feeds_js),
  FILE("/looks.js", SCRIPT, looks_js),
  FILE("/poses.js", SCRIPT, poses_js),
  FILE("/takes.js", SCRIPT, takes_js),
  FILE("/icon.svg", "image/svg+xml", icon_svg),
};

const struct page_file *page_file(const char *path) {
  for (unsigned long n = 0; n < sizeof files / sizeof *files; n++) {
    if (strcmp(files[n].path, path) == 0) return &files[n];
  }
  return 0;
}
