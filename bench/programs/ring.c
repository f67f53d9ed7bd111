/* The peer of the ledger's window: a ring of times, one total, no names, no checks of the caller. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct entry { int64_t time_ns, amount; };

int main(int count, char **arguments) {
  int64_t bound = atoll(arguments[1]), calls = atoll(arguments[2]), window_ns = bound < 1000000 ? 1000000 : 86400000000000;
  size_t capacity = 1;
  while (capacity < (size_t)bound + 1) capacity *= 2;
  struct entry *ring = malloc(capacity * sizeof *ring);
  size_t oldest = 0, used = 0;
  int64_t total = 0, passed = 0;
  (void)count;
  for (int64_t call = 0; call < calls; call++) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    int64_t now_ns = now.tv_sec * 1000000000 + now.tv_nsec;
    while (used > 0 && now_ns - ring[oldest].time_ns >= window_ns) {
      total -= ring[oldest].amount;
      oldest = (oldest + 1) & (capacity - 1);
      used--;
    }
    if (total + 1 > bound) continue;
    ring[(oldest + used++) & (capacity - 1)] = (struct entry){now_ns, 1};
    total++;
    passed++;
  }
  printf("%lld\n", (long long)passed);
  return 0;
}
