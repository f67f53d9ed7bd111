// The same with the same checks: overflow on every addition and subtraction.
#include <stdio.h>
#include <stdlib.h>
static long add(long a, long b) { long c; if (__builtin_add_overflow(a, b, &c)) abort(); return c; }
static long sub(long a, long b) { long c; if (__builtin_sub_overflow(a, b, &c)) abort(); return c; }
static long fib(long n) { return n < 2 ? n : add(fib(sub(n, 1)), fib(sub(n, 2))); }
int main(void) { printf("%ld\n", fib(38)); return 0; }
