// The same: three strings of their own and an array that holds them, made and dropped each time round.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *text(const char *form, long value) { char buffer[40]; snprintf(buffer, sizeof buffer, form, value); return strdup(buffer); }
int main(void) {
  long length = 0;
  for (long i = 0; i < 3000000; i++) {
    char **words = malloc(3 * sizeof *words);
    words[0] = text("item %ld", i); words[1] = text("of %ld", i * 2); words[2] = text("%ld", i % 7);
    length += 3;
    for (int k = 0; k < 3; k++) free(words[k]);
    free(words);
  }
  printf("%ld\n", length);
  return 0;
}
