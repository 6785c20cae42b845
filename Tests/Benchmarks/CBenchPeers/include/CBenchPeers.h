#ifndef C_BENCH_PEERS_H
#define C_BENCH_PEERS_H

// The peers of the benchmark behind one interface: stores that keep images by a key, and
// shrinkers that make small images of JPEG files. The floors in this target need only the C
// library and libjpeg; a shared library that exports `bench_more_peers` adds others.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Raised with each change of the structures below, so that an old library is refused.
#define BENCH_PEERS_VERSION 2

/// The contests that a store takes part in.
enum {
  /// Its get yields a pointer and reads nothing.
  BENCH_HANDLE = 1,
  /// Its get yields pixels, all of which are read.
  BENCH_TOUCH = 2,
  BENCH_STORE = 4,
  BENCH_OPEN = 8,
  /// A form in which other libraries keep images on disk; a scrolled list is compared with it.
  BENCH_SCROLL = 16,
  /// It keeps bytes as they are, so that they may be a file's.
  BENCH_BYTES = 32,
};

/// Reads every byte and adds up what it reads.
typedef uint64_t (*bench_reader)(const void *bytes, size_t byte_count);

/// The one reader that all use, the cache too: eight-byte words in vectors, from four places side by
/// side, since a processor fetches ahead within a page of memory only.
uint64_t bench_sum(const void *bytes, size_t byte_count);

/// Reads every byte into memory of its own, and drops the copy.
uint64_t bench_copy(const void *bytes, size_t byte_count);

/// The folder of a store, and the count and size of its images.
typedef struct {
  /// A folder of the store's own, which exists.
  const char *folder;
  /// The most images that the store has to keep.
  size_t capacity;
  /// Pixels, four bytes each: blue, green, red, and an unused one.
  size_t width, height;
  /// Bytes from one row to the next.
  size_t row_bytes;
  bench_reader reader;
} bench_room;

/// A way to keep images by a key of 16 random bytes.
typedef struct {
  const char *name;
  /// Its work, and why comparing the cache with it is fair; one sentence.
  const char *reason;
  /// The sum of the flags above.
  int roles;
  /// Images obtained in one timed run; few where each takes long.
  size_t batch;
  /// Opens the store, or creates it; null for a failure.
  void *(*open)(const bench_room *room);
  /// Keeps an image, in place of the key's older one; 0 for success. Like the cache it hands the
  /// bytes to the system and does not wait for the device.
  int (*store)(void *store, const uint8_t *key, const void *pixels);
  /// Obtains the images of `count` keys, one after the other, each released before the next;
  /// reads their bytes if `reads` is not 0. Returns 0, or an error's number.
  int (*get)(void *store, const uint8_t *keys, size_t count, int reads);
  void (*close)(void *store);
} bench_store;

/// A way to make small images of JPEG files.
typedef struct {
  const char *name;
  const char *reason;
  /// Shrinks the image of each file to `width` x `height`, covering that area, and drops the
  /// result.
  int (*shrink)(const char *const *files, size_t count, int width, int height, const char *folder);
} bench_shrinker;

/// A library that plays animations.
typedef struct {
  const char *name;
  const char *reason;
  /// Makes a file of so many frames, in memory that the caller frees; 0 for success.
  int (*make)(int width, int height, int frames, void **bytes, size_t *count);
  /// Begins to play a file, whose bytes stay in place; `NULL` for a failure.
  void *(*begin)(const void *bytes, size_t count);
  /// The pixels of the next frame, of four bytes each, valid until the next call; `NULL` after the last.
  const void *(*next)(void *player);
  void (*end)(void *player);
} bench_animator;

typedef struct {
  int version;
  size_t store_count;
  const bench_store *const *stores;
  size_t shrinker_count;
  const bench_shrinker *const *shrinkers;
  size_t animator_count;
  const bench_animator *const *animators;
} bench_peers;

/// The peers that need no further library.
const bench_peers *bench_floors(void);

/// The function that a shared library with more peers exports.
typedef const bench_peers *(*bench_more_peers_function)(void);

/// libjpeg's own decode of a file at `eighths` of its size, into one row that is overwritten; 0 for
/// success. Where there is no libjpeg it fails.
int bench_decode_jpeg(const char *file, int eighths, size_t *width, size_t *height);

/// Reads a file below `folder` into fresh memory and drops it, or takes a hash of it before, as costly as
/// the store's; 0 for success.
int bench_read_file(int folder, const char *name, size_t byte_count, bool hashes);

/// Creates a file below `folder`, writes it, closes it, and gives it its name; 0 for success.
int bench_write_file(int folder, const char *name, const void *bytes, size_t byte_count);

/// Takes a lease and ends it, for each line of 64 bytes in the order given: one exchange, a look at the line,
/// one subtraction. Less cannot keep an image from being overwritten. The lines begin as zeros; 0 for success.
int bench_lease(void *lines, const uint32_t *order, size_t count);

/// The bytes that malloc has given out and not got back; 0 where the C library does not count them.
size_t bench_allocated_bytes(void);

/// Lets all threads of the process run on the first `count` cores only, of those that it could run
/// on at the first call; 0, or an error's number where the system cannot do so.
int bench_use_cores(int count);

/// Writes a JPEG file's coefficients in several scans; 0 for success. Where there is no libjpeg it
/// fails.
int bench_make_progressive(const char *from, const char *to);

#endif
