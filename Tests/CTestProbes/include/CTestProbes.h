#ifndef C_TEST_PROBES_H
#define C_TEST_PROBES_H

#include <stddef.h>

// What only the C library and the kernel can tell about a piece of code. Linux only.

/// Whether allocations can be counted in this build; sanitizers have an allocator of their own.
int probe_counts_allocations(void);

/// Allocations made by the calling thread since it started.
long probe_allocation_count(void);

/// Bytes of the largest block that the calling thread asked for since the last call; 0 where allocations
/// cannot be counted.
size_t probe_largest_allocation(void);

/// From here on the calling thread gets no block of so many bytes or more, where allocations can be
/// counted.
void probe_refuse_allocations(size_t byte_count);

/// From here on any system call of the calling thread, but for exiting, kills the process.
/// Returns 0, or -1 if the kernel refuses.
int probe_forbid_system_calls(void);

/// Ends the process at once with a status, by the one call that is still allowed.
void probe_exit(int status);

/// Whether the address sanitizer is part of this build, and whether it lets anybody touch an address.
int probe_watches_memory(void);
int probe_may_touch(const void *address);

/// The host whose name nobody in the process finds, or fails to find, before `probe_end_lookups`;
/// sanitizers have a getaddrinfo(3) of their own, and nothing is held in their builds.
#define PROBE_HELD_HOST "held.invalid"
int probe_holds_lookups(void);
void probe_begin_lookups(void);

/// Blocks until somebody looks that host up.
void probe_wait_for_lookup(void);

/// Ends all look-ups of that host, now and later: there is none.
void probe_end_lookups(void);

/// Takes from the calling thread, and from those that it begins, the rights of the super-user.
/// Returns 0, or -1 if the kernel refuses.
int probe_become_ordinary(void);

/// Binds the calling thread to the first core that it may use.
/// Returns 0, or -1 if the kernel refuses.
int probe_bind_to_first_core(void);

#endif
