/* Preloaded into a command: ends it at the N-th call that changes a folder, with all its processes.
 *
 * ATTACK_FOLDER: the folder. ATTACK_COUNTER: a file of eight bytes, shared by all processes of the
 * command, that counts the calls. ATTACK_AT: the number of the call that is not made any more; a
 * write is made by half. ATTACK_GROUP: the process group of the command, which is ended beside that
 * of the caller, since workers may have one of their own. Killing with SIGKILL leaves nobody time to
 * tidy up, as a power cut does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic uint64_t *counter;
static uint64_t deadly;
static pid_t command;
static char folder[PATH_MAX];
static size_t length;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) void attack_arm(void) {
    const char *place = getenv("ATTACK_FOLDER"), *file = getenv("ATTACK_COUNTER");
    const char *at = getenv("ATTACK_AT"), *group = getenv("ATTACK_GROUP");
    if (!place || !file || !at || !group) return;
    if (!realpath(place, folder)) return;
    length = strlen(folder);
    deadly = strtoull(at, NULL, 10);
    command = (pid_t)strtol(group, NULL, 10);
    int handle = (int)open(file, O_RDWR);
    if (handle < 0) return;
    void *shared = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    close(handle);
    if (shared != MAP_FAILED) counter = shared;
}

static int inside(const char *path) {
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* A path relative to a folder handle, or to the working folder, as far as needed to compare. */
static int concerns_path(int at, const char *path) {
    char place[PATH_MAX], link[64];
    if (!counter || !path) return 0;
    if (path[0] == '/') return inside(path);
    if (at == AT_FDCWD) return getcwd(place, sizeof place) && inside(place);
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t size = readlink(link, place, sizeof place - 1);
    if (size < 0) return 0;
    place[size] = 0;
    return inside(place);
}

static int concerns_handle(int handle) {
    char place[PATH_MAX], link[64];
    if (!counter || handle < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, place, sizeof place - 1);
    if (size < 0) return 0;
    place[size] = 0;
    return inside(place);
}

static int is_last(void) { return ++*counter == deadly; }

static void end(void) {
    kill(-command, SIGKILL);
    kill(0, SIGKILL);
    for (;;) pause();
}

#define PATH_CALL(name, at, path, types, ...) \
    { \
        REAL(int, #name, types); \
        if (concerns_path(at, path) && is_last()) end(); \
        return real(__VA_ARGS__); \
    }
#define COMMA ,

int rename(const char *a, const char *b)
    PATH_CALL(rename, AT_FDCWD, b, const char * COMMA const char *, a, b)
int renameat(int x, const char *a, int y, const char *b)
    PATH_CALL(renameat, y, b, int COMMA const char * COMMA int COMMA const char *, x, a, y, b)
int renameat2(int x, const char *a, int y, const char *b, unsigned f)
    PATH_CALL(renameat2, y, b,
              int COMMA const char * COMMA int COMMA const char * COMMA unsigned, x, a, y, b, f)
int link(const char *a, const char *b)
    PATH_CALL(link, AT_FDCWD, b, const char * COMMA const char *, a, b)
int unlink(const char *a) PATH_CALL(unlink, AT_FDCWD, a, const char *, a)
int unlinkat(int x, const char *a, int f)
    PATH_CALL(unlinkat, x, a, int COMMA const char * COMMA int, x, a, f)
int rmdir(const char *a) PATH_CALL(rmdir, AT_FDCWD, a, const char *, a)
int mkdir(const char *a, mode_t m) PATH_CALL(mkdir, AT_FDCWD, a, const char * COMMA mode_t, a, m)
int truncate(const char *a, off_t s)
    PATH_CALL(truncate, AT_FDCWD, a, const char * COMMA off_t, a, s)

#define OPEN_CALL(name, at, types, ...) \
    { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, mode_t); \
            va_end(more); \
        } \
        REAL(int, #name, types, int, mode_t); \
        if ((flags & (O_CREAT | O_TRUNC)) && concerns_path(at, path) && is_last()) end(); \
        return real(__VA_ARGS__, flags, mode); \
    }

int open(const char *path, int flags, ...) OPEN_CALL(open, AT_FDCWD, const char *, path)
int open64(const char *path, int flags, ...) OPEN_CALL(open64, AT_FDCWD, const char *, path)
int openat(int x, const char *path, int flags, ...)
    OPEN_CALL(openat, x, int COMMA const char *, x, path)
int openat64(int x, const char *path, int flags, ...)
    OPEN_CALL(openat64, x, int COMMA const char *, x, path)

#define HANDLE_CALL(name, types, ...) \
    { \
        REAL(int, #name, types); \
        if (concerns_handle(handle) && is_last()) end(); \
        return real(__VA_ARGS__); \
    }

int fsync(int handle) HANDLE_CALL(fsync, int, handle)
int fdatasync(int handle) HANDLE_CALL(fdatasync, int, handle)
int ftruncate(int handle, off_t s) HANDLE_CALL(ftruncate, int COMMA off_t, handle, s)
int ftruncate64(int handle, off64_t s) HANDLE_CALL(ftruncate64, int COMMA off64_t, handle, s)
int posix_fallocate(int handle, off_t a, off_t b)
    HANDLE_CALL(posix_fallocate, int COMMA off_t COMMA off_t, handle, a, b)

ssize_t write(int handle, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (concerns_handle(handle) && is_last()) {
        real(handle, data, size / 2);
        end();
    }
    return real(handle, data, size);
}

ssize_t pwrite(int handle, const void *data, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    if (concerns_handle(handle) && is_last()) {
        real(handle, data, size / 2, at);
        end();
    }
    return real(handle, data, size, at);
}

ssize_t pwrite64(int handle, const void *data, size_t size, off64_t at) {
    return pwrite(handle, data, size, at);
}

ssize_t writev(int handle, const struct iovec *data, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    if (concerns_handle(handle) && is_last()) {
        real(handle, data, count / 2);
        end();
    }
    return real(handle, data, count);
}

ssize_t copy_file_range(int from, off64_t *a, int handle, off64_t *b, size_t size, unsigned flags) {
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    if (concerns_handle(handle) && is_last()) end();
    return real(from, a, handle, b, size, flags);
}
