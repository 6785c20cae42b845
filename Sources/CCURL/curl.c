#if defined(__linux__)

#include "CCURL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/// The name that the library has kept since 2006, and by which Debian, Fedora and Arch install it.
#define LIBRARY "libcurl.so.4"

/// The youngest, curl_multi_wakeup(3), came with 7.68 in 2020.
#define EACH_FUNCTION(apply)                                                                     \
  apply(global_init) apply(version_info) apply(easy_init) apply(easy_cleanup)                    \
  apply(easy_setopt) apply(easy_getinfo) apply(easy_strerror) apply(easy_pause)                  \
  apply(slist_append) apply(slist_free_all) apply(multi_init) apply(multi_cleanup)               \
  apply(multi_setopt) apply(multi_add_handle) apply(multi_remove_handle) apply(multi_perform)    \
  apply(multi_info_read) apply(multi_poll) apply(multi_wakeup)

// The types come from libcurl's header, so that a call is checked as if the library were linked.
#define MEMBER(name) __typeof__(curl_##name) *name;

/// Written under `lock` by the load that succeeds, and only read afterwards.
static struct { EACH_FUNCTION(MEMBER) } curl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded = false;

/// Fills `curl`; returns the name of a function that the library lacks, or null.
static const char *find_functions(void *library) {
#define FIND(name)                                                    \
  curl.name = (__typeof__(curl_##name) *)dlsym(library, "curl_" #name); \
  if (!curl.name) return "curl_" #name;
  EACH_FUNCTION(FIND)
  return NULL;
}

/// OPENSSL_INIT_NO_ATEXIT of <openssl/crypto.h>, whose package nothing else here needs.
#define NO_CLEANUP_AT_EXIT 0x00080000L

/// Has OpenSSL, if libcurl stands on it, leave its memory to the end of the process;
/// OPENSSL_init_crypto(3). By default exit(3) frees it beside the threads that still use it: one that
/// ends at that moment frees its part once more, and the process is aborted. Of a process only the first
/// call to OpenSSL decides, so a program that calls it before the first request decides for itself.
static void keep_openssl_at_exit(void *library) {
  int (*init)(uint64_t, const void *) =
      (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
  if (init) init(NO_CLEANUP_AT_EXIT, NULL);
}

static bool load(char *reason, size_t capacity) {
  // All of its references now, so that an unfit library is an error here and no crash later.
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(reason, capacity, "%s", dlerror());
    return false;
  }
  const char *missing = find_functions(library);
  if (missing) {
    snprintf(reason, capacity, "%s has no %s", LIBRARY, missing);
    dlclose(library);
    return false;
  }
  keep_openssl_at_exit(library);
  CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) {
    snprintf(reason, capacity, "%s does not start: %s", LIBRARY, curl.easy_strerror(code));
    dlclose(library);
    return false;
  }
  return true;
}

bool fic_curl_load(char *reason, size_t capacity) {
  pthread_mutex_lock(&lock);
  if (!is_loaded) is_loaded = load(reason, capacity);
  bool result = is_loaded;
  pthread_mutex_unlock(&lock);
  return result;
}

CURL *fic_curl_easy_init(void) { return curl.easy_init(); }

void fic_curl_easy_cleanup(CURL *easy) { curl.easy_cleanup(easy); }

const char *fic_curl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

CURLcode fic_curl_easy_pause(CURL *easy, int action) { return curl.easy_pause(easy, action); }

CURLcode fic_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode fic_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode fic_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode fic_curl_set_receiver(CURL *easy, CURLoption option, fic_curl_receiver receiver) {
  return curl.easy_setopt(easy, option, receiver);
}

CURLcode fic_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl.easy_getinfo(easy, info, value);
}

CURLcode fic_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl.easy_getinfo(easy, info, value);
}

bool fic_curl_leaves_lookups_behind(void) {
  return curl.version_info(CURLVERSION_NOW)->version_num >= 0x075700;
}

void fic_curl_leave_lookups_behind(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)easy;
#endif
}

void fic_curl_tell_of_sending(CURL *easy, fic_curl_teller teller, void *context) {
#if LIBCURL_VERSION_NUM >= 0x075000
  curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, teller);
  curl.easy_setopt(easy, CURLOPT_PREREQDATA, context);
#else
  (void)easy, (void)teller, (void)context;
#endif
}

struct curl_slist *fic_curl_slist_append(struct curl_slist *list, const char *text) {
  return curl.slist_append(list, text);
}

void fic_curl_slist_free_all(struct curl_slist *list) { curl.slist_free_all(list); }

CURLM *fic_curl_multi_init(void) { return curl.multi_init(); }

CURLMcode fic_curl_multi_cleanup(CURLM *multi) { return curl.multi_cleanup(multi); }

CURLMcode fic_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl.multi_setopt(multi, option, value);
}

CURLMcode fic_curl_multi_add_handle(CURLM *multi, CURL *easy) {
  return curl.multi_add_handle(multi, easy);
}

CURLMcode fic_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  return curl.multi_remove_handle(multi, easy);
}

CURLMcode fic_curl_multi_perform(CURLM *multi, int *running_count) {
  return curl.multi_perform(multi, running_count);
}

CURLMsg *fic_curl_multi_info_read(CURLM *multi, int *rest_count) {
  return curl.multi_info_read(multi, rest_count);
}

CURLMcode fic_curl_multi_poll(CURLM *multi, int timeout) {
  return curl.multi_poll(multi, NULL, 0, timeout, NULL);
}

CURLMcode fic_curl_multi_wakeup(CURLM *multi) { return curl.multi_wakeup(multi); }

#endif
