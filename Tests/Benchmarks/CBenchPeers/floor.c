#include "floors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The least work that finds an image: records and slots in one file, one mapping, one
// open-addressing hash table over the keys. No lock, no lease, no order of use, no proof of
// content.

typedef struct {
  uint8_t key[16];
  uint64_t is_used;
  uint8_t unused[40];
} record;

typedef struct {
  uint64_t key[2];
  /// The slot's number plus 1, or 0 for an empty cell.
  uint64_t slot;
} place;

typedef struct {
  bench_room room;
  int file;
  size_t slot_bytes, slots_offset, file_bytes, count, mask;
  const uint8_t *mapping;
  place *places;
} table;

static place *find(const table *table, const uint8_t *key) {
  uint64_t words[2];
  memcpy(words, key, 16);
  // Keys are random bytes already.
  size_t index = words[0] & table->mask;
  while (table->places[index].slot != 0) {
    place *found = &table->places[index];
    if (found->key[0] == words[0] && found->key[1] == words[1]) return found;
    index = (index + 1) & table->mask;
  }
  return &table->places[index];
}

static void enter(table *table, const uint8_t *key, size_t slot) {
  place *free_place = find(table, key);
  memcpy(free_place->key, key, 16);
  free_place->slot = slot + 1;
}

/// Reads all records at once and enters those in use.
static int load(table *table) {
  size_t record_bytes = table->room.capacity * sizeof(record);
  record *records = malloc(record_bytes);
  if (!records) return -1;
  ssize_t count = pread(table->file, records, record_bytes, 0);
  for (size_t slot = 0; count >= 0 && slot < (size_t)count / sizeof(record); slot++) {
    if (!records[slot].is_used) continue;
    enter(table, records[slot].key, slot);
    table->count = slot + 1;
  }
  free(records);
  return count < 0 ? -1 : 0;
}

static void close_table(void *store) {
  table *table = store;
  if (table->mapping && table->mapping != MAP_FAILED) {
    munmap((void *)table->mapping, table->file_bytes);
  }
  if (table->file >= 0) close(table->file);
  free(table->places);
  free(table);
}

static void *open_table(const bench_room *room) {
  table *table = calloc(1, sizeof *table);
  if (!table) return NULL;
  table->room = *room;
  size_t page = 16384;
  table->slot_bytes = room->row_bytes * room->height;
  table->slots_offset = (room->capacity * sizeof(record) + page - 1) / page * page;
  table->file_bytes = table->slots_offset + room->capacity * table->slot_bytes;
  size_t place_count = 16;
  while (place_count < room->capacity * 2) place_count *= 2;
  table->mask = place_count - 1;
  table->places = calloc(place_count, sizeof(place));
  char path[4096];
  snprintf(path, sizeof path, "%s/floor", room->folder);
  table->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat status;
  if (!table->places || table->file < 0 || fstat(table->file, &status) != 0 ||
      (status.st_size == 0 && ftruncate(table->file, (off_t)table->file_bytes) != 0)) {
    close_table(table);
    return NULL;
  }
  table->mapping = mmap(NULL, table->file_bytes, PROT_READ, MAP_SHARED, table->file, 0);
  if (table->mapping == MAP_FAILED || load(table) != 0) {
    close_table(table);
    return NULL;
  }
  return table;
}

static int store_image(void *store, const uint8_t *key, const void *pixels) {
  table *table = store;
  place *known = find(table, key);
  size_t slot = known->slot ? known->slot - 1 : table->count;
  if (slot >= table->room.capacity) return -1;
  off_t offset = (off_t)(table->slots_offset + slot * table->slot_bytes);
  if (pwrite(table->file, pixels, table->slot_bytes, offset) != (ssize_t)table->slot_bytes) {
    return -1;
  }
  record entry = {.is_used = 1};
  memcpy(entry.key, key, 16);
  if (pwrite(table->file, &entry, sizeof entry, (off_t)(slot * sizeof entry)) != sizeof entry) {
    return -1;
  }
  if (!known->slot) {
    enter(table, key, slot);
    table->count++;
  }
  return 0;
}

static int get(void *store, const uint8_t *keys, size_t count, int reads) {
  const table *table = store;
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    const place *found = find(table, keys + index * 16);
    if (!found->slot) return -1;
    const uint8_t *pixels =
      table->mapping + table->slots_offset + (found->slot - 1) * table->slot_bytes;
    sum += reads ? table->room.reader(pixels, table->slot_bytes) : (uint64_t)(uintptr_t)pixels;
  }
  bench_keep(sum);
  return 0;
}

const bench_store bench_mapped_floor = {
  .name = "C floor",
  .reason = "one mapping, one hash table over the keys, no lock, no lease, no proof: less cannot be "
            "done, and less is not enough for a cache",
  .roles = BENCH_HANDLE | BENCH_TOUCH | BENCH_OPEN | BENCH_SCROLL,
  .batch = 1000,
  .open = open_table,
  .store = store_image,
  .get = get,
  .close = close_table,
};
