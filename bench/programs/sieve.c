// The same with the same checks: bounds of every access, overflow of every operation; the array grows as it is filled.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
static bool *prime; static long length, capacity;
static void push(bool value) {
  if (length == capacity) { capacity = capacity ? capacity * 2 : 16; prime = realloc(prime, capacity); if (!prime) abort(); }
  prime[length++] = value;
}
static bool *at(long i) { if (i < 0 || i >= length) abort(); return &prime[i]; }
static long add(long a, long b) { long c; if (__builtin_add_overflow(a, b, &c)) abort(); return c; }
static long mul(long a, long b) { long c; if (__builtin_mul_overflow(a, b, &c)) abort(); return c; }
int main(void) {
  const long n = 20000000;
  for (long i = 0; i < n + 1; i++) push(true);
  long count = 0;
  for (long i = 2; i <= n; i++)
    if (*at(i)) {
      count = add(count, 1);
      for (long j = mul(i, i); j <= n; j = add(j, i)) *at(j) = false;
    }
  printf("%ld\n", count);
  return 0;
}
