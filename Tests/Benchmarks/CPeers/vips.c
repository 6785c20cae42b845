#define _GNU_SOURCE

#include "peers.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/// Starts the command with these words, on one thread, and waits for it.
static int run(char *const *words) {
  size_t count = 0;
  while (environ[count]) count++;
  char **environment = calloc(count + 2, sizeof *environment);
  if (!environment) return -1;
  environment[0] = "VIPS_CONCURRENCY=1";
  memcpy(environment + 1, environ, count * sizeof *environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int failed = posix_spawnp(&child, words[0], &actions, NULL, words, environment);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int shrink(const char *const *files, size_t count, int width, int height,
                  const char *folder) {
  char size[32], output[4096];
  snprintf(size, sizeof size, "%dx%d", width, height);
  // Uncompressed, so that no encoding is timed.
  snprintf(output, sizeof output, "%s/vips-%%s.v", folder);
  char **words = calloc(count + 8, sizeof *words);
  if (!words) return -1;
  char *fixed[] = {"vipsthumbnail", "--size", size, "--smartcrop", "centre", "--output", output};
  size_t fixed_count = sizeof fixed / sizeof fixed[0];
  memcpy(words, fixed, sizeof fixed);
  for (size_t index = 0; index < count; index++) words[fixed_count + index] = (char *)files[index];
  int result = run(words);
  free(words);
  return result;
}

const bench_shrinker bench_vipsthumbnail = {
  .name = "vipsthumbnail",
  .reason = "the command of libvips, one thread, eight files in a call so that its start counts for "
            "an eighth, uncompressed output",
  .shrink = shrink,
};
