#include "CTestProbes.h"

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

int probe_holds_lookups(void) { return 0; }
void probe_begin_lookups(void) {}
void probe_wait_for_lookup(void) {}
void probe_end_lookups(void) {}

#else

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int has_arrived, is_over;

int probe_holds_lookups(void) { return 1; }

void probe_begin_lookups(void) {
  pthread_mutex_lock(&lock);
  has_arrived = is_over = 0;
  pthread_mutex_unlock(&lock);
}

void probe_wait_for_lookup(void) {
  pthread_mutex_lock(&lock);
  while (!has_arrived) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void probe_end_lookups(void) {
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

typedef int lookup(
    const char *, const char *, const struct addrinfo *, struct addrinfo **);

// The test executable's own getaddrinfo(3) comes before the C library's, as its malloc(3) does.
int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **result) {
  if (!name || strcmp(name, PROBE_HELD_HOST) != 0) {
    lookup *real = (lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
    return real ? real(name, service, hints, result) : EAI_FAIL;
  }
  pthread_mutex_lock(&lock);
  has_arrived = 1;
  pthread_cond_broadcast(&changed);
  while (!is_over) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return EAI_FAIL;
}

#endif
#endif
