// SQLite's functions: the system's own on Apple platforms, and on Linux from a library that is loaded when
// it is first used.
//
// Launches that open no store of originals need no SQLite, and the dynamic linker would spend time on it
// in each. So nothing here links it on Linux: its header gives the types, and `fic_sqlite_load` looks the
// functions up. A program that links SQLite itself shares its copy.
//
// Rules:
// 1. Every function but `fic_sqlite_load` may be called only after a call of that has succeeded, whose
//    effects the calling thread has to see.
// 2. Each function does what SQLite's manual says of the same name without `fic_`.

#ifndef CSQLITE_H
#define CSQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/// Loads SQLite, from any thread; a call that finds it loaded takes a lock.
///
/// Returns false after it has written into `reason` why the library cannot be used, as text of at most
/// `capacity` bytes with its zero. The next call tries again.
bool fic_sqlite_load(char *reason, size_t capacity);

#define FIC_EACH_SQLITE_FUNCTION(apply)                                                          \
  apply(open_v2) apply(close_v2) apply(exec) apply(prepare_v3) apply(step) apply(reset)          \
  apply(finalize) apply(bind_int64) apply(bind_text) apply(bind_blob) apply(bind_null)           \
  apply(column_type) apply(column_int64) apply(column_blob) apply(column_bytes)                  \
  apply(changes) apply(errmsg) apply(extended_errcode) apply(system_errno) apply(busy_timeout)   \
  apply(db_readonly)

#if defined(__linux__)

#define FIC_MEMBER(name) __typeof__(sqlite3_##name) *name;

/// Written under a lock by the load that succeeds, and only read afterwards. The types come from SQLite's
/// header, so that a call is checked as if the library were linked.
extern struct fic_sqlite_functions {
  FIC_EACH_SQLITE_FUNCTION(FIC_MEMBER)
} fic_sqlite;

#undef FIC_MEMBER
#define FIC_CALL(name) fic_sqlite.name

#else

#define FIC_CALL(name) sqlite3_##name

#endif

// The classes of protection as Apple's header has them. Elsewhere no locked device closes files, and `open`
// drops them.
#if defined(SQLITE_OPEN_FILEPROTECTION_NONE)
#define FIC_SQLITE_DROPPED 0
#else
#define SQLITE_OPEN_FILEPROTECTION_COMPLETE 0x00100000
#define SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION 0x00300000
#define SQLITE_OPEN_FILEPROTECTION_NONE 0x00400000
#define FIC_SQLITE_DROPPED 0x00700000
#endif

static inline int fic_sqlite_open(const char *path, sqlite3 **database, int flags) {
  return FIC_CALL(open_v2)(path, database, flags & ~FIC_SQLITE_DROPPED, NULL);
}
static inline int fic_sqlite_close(sqlite3 *database) { return FIC_CALL(close_v2)(database); }
static inline int fic_sqlite_exec(sqlite3 *database, const char *sql) {
  return FIC_CALL(exec)(database, sql, NULL, NULL, NULL);
}
/// Prepares a statement that is kept.
static inline int fic_sqlite_prepare(sqlite3 *database, const char *sql, sqlite3_stmt **statement) {
  return FIC_CALL(prepare_v3)(database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}
static inline int fic_sqlite_step(sqlite3_stmt *statement) { return FIC_CALL(step)(statement); }
static inline int fic_sqlite_reset(sqlite3_stmt *statement) { return FIC_CALL(reset)(statement); }
static inline int fic_sqlite_finalize(sqlite3_stmt *statement) {
  return FIC_CALL(finalize)(statement);
}
static inline int fic_sqlite_bind_int64(sqlite3_stmt *statement, int index, sqlite3_int64 value) {
  return FIC_CALL(bind_int64)(statement, index, value);
}
static inline int fic_sqlite_bind_null(sqlite3_stmt *statement, int index) {
  return FIC_CALL(bind_null)(statement, index);
}
/// Copies the text.
static inline int fic_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *text, int byte_count) {
  return FIC_CALL(bind_text)(
      statement, index, text ? text : "", byte_count, SQLITE_TRANSIENT);
}
/// Copies nothing: the text stays where it is until the statement is reset.
static inline int fic_sqlite_lend_text(
    sqlite3_stmt *statement, int index, const void *text, int byte_count) {
  return FIC_CALL(bind_text)(statement, index, text ? text : "", byte_count, SQLITE_STATIC);
}
/// Copies the first bytes of two numbers, the most significant one first.
static inline int fic_sqlite_bind_words(
    sqlite3_stmt *statement, int index, uint64_t first, uint64_t second, int byte_count) {
  unsigned char bytes[16];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (unsigned char)(first >> (56 - 8 * i));
    bytes[8 + i] = (unsigned char)(second >> (56 - 8 * i));
  }
  return FIC_CALL(bind_blob)(statement, index, bytes, byte_count, SQLITE_TRANSIENT);
}
static inline int fic_sqlite_column_type(sqlite3_stmt *statement, int column) {
  return FIC_CALL(column_type)(statement, column);
}
static inline sqlite3_int64 fic_sqlite_column_int64(sqlite3_stmt *statement, int column) {
  return FIC_CALL(column_int64)(statement, column);
}
static inline const void *fic_sqlite_column_blob(sqlite3_stmt *statement, int column) {
  return FIC_CALL(column_blob)(statement, column);
}
static inline int fic_sqlite_column_bytes(sqlite3_stmt *statement, int column) {
  return FIC_CALL(column_bytes)(statement, column);
}
static inline int fic_sqlite_changes(sqlite3 *database) { return FIC_CALL(changes)(database); }
static inline const char *fic_sqlite_errmsg(sqlite3 *database) { return FIC_CALL(errmsg)(database); }
static inline int fic_sqlite_extended_errcode(sqlite3 *database) {
  return FIC_CALL(extended_errcode)(database);
}
static inline int fic_sqlite_system_errno(sqlite3 *database) {
  return FIC_CALL(system_errno)(database);
}
static inline int fic_sqlite_busy_timeout(sqlite3 *database, int milliseconds) {
  return FIC_CALL(busy_timeout)(database, milliseconds);
}
static inline bool fic_sqlite_is_readonly(sqlite3 *database) {
  return FIC_CALL(db_readonly)(database, "main") == 1;
}

#undef FIC_CALL
#undef FIC_SQLITE_DROPPED

/// The bit of `open` that gives the database and its other files a class of protection. 0: none, 1: complete,
/// 2: until the first unlock.
static inline int fic_sqlite_protection(int protection) {
  switch (protection) {
    case 1: return SQLITE_OPEN_FILEPROTECTION_COMPLETE;
    case 2: return SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION;
    default: return SQLITE_OPEN_FILEPROTECTION_NONE;
  }
}

#endif
