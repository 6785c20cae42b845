// libcurl's functions, from a library that is loaded when it is first used, for Linux.
//
// Most launches of a program with a cache send no request, and the dynamic linker would spend five
// milliseconds on libcurl and the forty libraries below it in each. So nothing links libcurl: its
// headers give the types, and `fic_curl_load` looks its functions up. A program that links libcurl
// itself shares its copy.
//
// Rules:
// 1. Every function but `fic_curl_load` may be called only after a call of that has succeeded, whose
//    effects the calling thread has to see.
// 2. Each function does what libcurl's manual page of the same name says, without `fic_`. Swift cannot
//    call functions with variable arguments: `set` and `get` fix the argument's type.

#ifndef CCURL_H
#define CCURL_H

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

/// Loads libcurl and initialises it, from any thread; a call that finds it loaded takes a lock.
///
/// Returns false after it has written into `reason` why the library cannot be used, as text of at most
/// `capacity` bytes with its zero. The next call tries again.
bool fic_curl_load(char *reason, size_t capacity);

CURL *fic_curl_easy_init(void);
void fic_curl_easy_cleanup(CURL *easy);
const char *fic_curl_easy_strerror(CURLcode code);
CURLcode fic_curl_easy_pause(CURL *easy, int action);

CURLcode fic_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode fic_curl_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode fic_curl_set_pointer(CURL *easy, CURLoption option, void *value);

typedef size_t (*fic_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

CURLcode fic_curl_set_receiver(CURL *easy, CURLoption option, fic_curl_receiver receiver);
CURLcode fic_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode fic_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);

/// Whether the library can give up a name lookup that hangs, as it can since 7.87.
bool fic_curl_leaves_lookups_behind(void);

/// Has a handle give up a lookup when it is taken away. Otherwise that waits for getaddrinfo(3) to come
/// back, however long that takes; CURLOPT_QUICK_EXIT(3). The thread that resolves the name then ends by
/// itself and frees its memory. Older libraries go on waiting.
void fic_curl_leave_lookups_behind(CURL *easy);

typedef int (*fic_curl_teller)(void *context, char *remote, char *local, int remote_port, int local_port);

/// Has a function called, which returns 0, when a connection takes the request; CURLOPT_PREREQFUNCTION(3). Libraries
/// before 7.80 never call it.
void fic_curl_tell_of_sending(CURL *easy, fic_curl_teller teller, void *context);

struct curl_slist *fic_curl_slist_append(struct curl_slist *list, const char *text);
void fic_curl_slist_free_all(struct curl_slist *list);

CURLM *fic_curl_multi_init(void);
CURLMcode fic_curl_multi_cleanup(CURLM *multi);
CURLMcode fic_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode fic_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode fic_curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode fic_curl_multi_perform(CURLM *multi, int *running_count);
CURLMsg *fic_curl_multi_info_read(CURLM *multi, int *rest_count);

/// Waits for the handles' sockets, for timers and for `fic_curl_multi_wakeup`, at most so many
/// milliseconds.
CURLMcode fic_curl_multi_poll(CURLM *multi, int timeout);
CURLMcode fic_curl_multi_wakeup(CURLM *multi);

#endif
#endif
