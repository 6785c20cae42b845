#include <curl/curl.h>

// Swift cannot call functions with variable arguments; these fix the argument's type.

static inline CURLcode fic_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

// Without it, taking a handle away waits for getaddrinfo(3) to come back, however long that takes;
// CURLOPT_QUICK_EXIT(3). The thread that resolves the name then ends by itself and frees its
// memory. Libraries before 7.87 lack this option and go on waiting.
static inline int fic_curl_leaves_lookups_behind(void) {
  return curl_version_info(CURLVERSION_NOW)->version_num >= 0x075700;
}

static inline void fic_curl_leave_lookups_behind(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)easy;
#endif
}

static inline CURLcode fic_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode fic_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

typedef size_t (*fic_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode fic_curl_set_receiver(
    CURL *easy, CURLoption option, fic_curl_receiver receiver) {
  return curl_easy_setopt(easy, option, receiver);
}

static inline CURLcode fic_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode fic_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
