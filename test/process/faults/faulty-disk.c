/*
 * Preloaded into a server, it makes calls on files below a path fail, or delays them. The test writes the orders into a file that
 * the library maps, so they take effect at once. Without orders a call costs one comparison.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, READ = 4, TRUNCATE = 8 };

/* FaultyDisk of faulty-disk.ts writes the same layout. */
struct orders {
  _Atomic int armed;
  int calls;
  int error;
  int delay_ms;
  /* Fewer than one: the next call is affected. */
  _Atomic int skip;
  /* How many calls are affected. */
  _Atomic int times;
  /* A write stores half of its bytes first, as on a disk that becomes full. */
  int halves;
  /* How many calls were affected. */
  _Atomic int affected;
  char unused[32];
  char prefix[448];
};

static struct orders *orders;

__attribute__((constructor)) static void map_orders(void) {
  const char *path = getenv("HEDDLE_FAULTS_ORDERS");
  if (path != NULL) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
      void *mapped = mmap(NULL, sizeof(struct orders), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (mapped != MAP_FAILED) orders = mapped;
      close(file);
    }
  }
  /* The server's commands are not affected. */
  unsetenv("LD_PRELOAD");
  unsetenv("HEDDLE_FAULTS_ORDERS");
}

static int is_below_prefix(int file) {
  char name[32], path[1024];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, orders->prefix, strlen(orders->prefix)) == 0;
}

/* Returns 1 if the call has to fail, with errno set. Waits first if the orders say so. */
static int fails(int call, int file) {
  if (orders == NULL || !atomic_load(&orders->armed) || (orders->calls & call) == 0) return 0;
  int before = errno;
  if (!is_below_prefix(file) || atomic_fetch_sub(&orders->skip, 1) > 0 || atomic_fetch_sub(&orders->times, 1) <= 0) {
    errno = before;
    return 0;
  }
  atomic_fetch_add(&orders->affected, 1);
  if (orders->delay_ms > 0) {
    struct timespec time = {orders->delay_ms / 1000, (orders->delay_ms % 1000) * 1000000L};
    nanosleep(&time, NULL);
  }
  errno = orders->error == 0 ? before : orders->error;
  return orders->error != 0;
}

/* The function of the C library. */
#define REAL(name)                                                                    \
  ({                                                                                  \
    static __typeof__(&name) real;                                                    \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);              \
    real;                                                                             \
  })

/* How much of a failing write is stored. */
static size_t stored(size_t size) { return orders->halves ? size / 2 : 0; }

ssize_t write(int file, const void *bytes, size_t size) {
  if (fails(WRITE, file)) return stored(size) > 0 ? REAL(write)(file, bytes, stored(size)) : -1;
  return REAL(write)(file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  if (fails(WRITE, file)) return stored(size) > 0 ? REAL(pwrite)(file, bytes, stored(size), at) : -1;
  return REAL(pwrite)(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
  if (fails(WRITE, file)) return stored(size) > 0 ? REAL(pwrite64)(file, bytes, stored(size), at) : -1;
  return REAL(pwrite64)(file, bytes, size, at);
}

ssize_t read(int file, void *bytes, size_t size) { return fails(READ, file) ? -1 : REAL(read)(file, bytes, size); }

ssize_t pread(int file, void *bytes, size_t size, off_t at) { return fails(READ, file) ? -1 : REAL(pread)(file, bytes, size, at); }

ssize_t pread64(int file, void *bytes, size_t size, off64_t at) { return fails(READ, file) ? -1 : REAL(pread64)(file, bytes, size, at); }

int ftruncate64(int file, off64_t size) { return fails(TRUNCATE, file) ? -1 : REAL(ftruncate64)(file, size); }

int fsync(int file) { return fails(SYNC, file) ? -1 : REAL(fsync)(file); }

int fdatasync(int file) { return fails(SYNC, file) ? -1 : REAL(fdatasync)(file); }
