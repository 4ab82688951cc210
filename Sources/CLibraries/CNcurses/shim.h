#pragma once
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>

// Swift imports neither curses' attribute macros nor its global variables safely.

// Opens a screen that writes into the file `output`; null if the terminal type is unknown or cannot move its cursor.
// `setupterm` first, because newterm ends the process on some errors.
static inline SCREEN *pinna_screen_open(const char *type, FILE *output, FILE *input) {
  int error = 0;
  if (setupterm(type, fileno(output), &error) != OK) return NULL;
  if (tigetstr("cup") == NULL || tigetstr("cup") == (char *)-1) return NULL;
  use_env(FALSE);
  SCREEN *screen = newterm(type, output, input);
  if (screen == NULL) return NULL;
  nonl();
  typeahead(-1);
  leaveok(stdscr, TRUE);
  curs_set(0);
  return screen;
}

// Starts colour on the terminal's own background; false if it has none.
static inline bool pinna_screen_colours(void) {
  if (!has_colors() || start_color() != OK) return false;
  if (use_default_colors() != OK) return false;
  for (short colour = 1; colour <= 7; colour++) init_pair(colour, colour, -1);
  init_pair(8, COLOR_WHITE, COLOR_RED);
  init_pair(9, COLOR_BLACK, COLOR_YELLOW);
  init_pair(10, COLOR_BLACK, COLOR_GREEN);
  return true;
}

static inline void pinna_screen_style(bool bold, bool dim, bool reverse, short pair) {
  attr_set((bold ? A_BOLD : 0) | (dim ? A_DIM : 0) | (reverse ? A_REVERSE : 0), pair, NULL);
}

static inline void pinna_screen_put(int row, int column, const wchar_t *text, int count) {
  mvaddnwstr(row, column, text, count);
}

static inline void pinna_screen_update(void) {
  wnoutrefresh(stdscr);
  doupdate();
}

// Draws everything anew at the next update.
static inline void pinna_screen_redraw(void) { clearok(curscr, TRUE); }

static inline int pinna_terminal_size(int terminal, struct winsize *size) {
  return ioctl(terminal, TIOCGWINSZ, size);
}

// Bytes that the terminal has not sent yet; 0 where it cannot say.
static inline int pinna_terminal_backlog(int terminal) {
  int count = 0;
  return ioctl(terminal, TIOCOUTQ, &count) == 0 ? count : 0;
}

// Takes up the user's locale; whether its characters are UTF-8.
static inline bool pinna_locale_is_utf8(void) {
  setlocale(LC_CTYPE, "");
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
