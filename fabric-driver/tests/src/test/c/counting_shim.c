/*
 * A library to be loaded in front of the C library by LD_PRELOAD: counts the calls of functions of sockets and files,
 * and then calls the C library. Counts are in the file that SHIM_COUNTS names, which has a record of 64 bytes for each
 * function: its name, and calls by the kind of the descriptor, see enum kind. Only calls of generated code are counted,
 * as the JVM makes for Java's linker: their callers are in no library. With SHIM_REFUSES in the environment it gives no
 * sockets of the internet.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_BYTES 24
#define MAX_FD 65536

enum kind { NONE, TCP, UDP, EPOLL, OTHER, KINDS };

#define FUNCTIONS(F) \
    F(socket) F(bind) F(connect) F(listen) F(accept4) F(send) F(sendto) F(sendmsg) F(sendmmsg) F(recv) F(recvfrom) \
    F(recvmsg) F(recvmmsg) F(setsockopt) F(getsockopt) F(getsockname) F(getpeername) F(shutdown) F(epoll_create1) \
    F(epoll_ctl) F(epoll_wait) F(poll) F(close) F(read) F(write) F(pread) F(pwrite) F(openat) F(bypassed)

#define ID(name) ID_##name,
enum id { FUNCTIONS(ID) IDS };

struct record {
    char name[NAME_BYTES];
    /* by kind, the first for descriptors that did not come from here */
    int64_t calls[KINDS];
};

static struct record unmapped[IDS];
static struct record *records = unmapped;
static unsigned char kinds[MAX_FD];

__attribute__((constructor)) static void open_counts(void)
{
    static const char *names[] = {
#define NAME(name) #name,
        FUNCTIONS(NAME)
    };
    const char *path = getenv("SHIM_COUNTS");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof unmapped) != 0) {
        return;
    }
    void *mapped = mmap(NULL, sizeof unmapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        return;
    }
    records = mapped;
    for (int i = 0; i < IDS; i++) {
        strncpy(records[i].name, names[i], NAME_BYTES - 1);
    }
}

static enum kind kind_of(int fd)
{
    return fd < 0 || fd >= MAX_FD ? NONE : kinds[fd];
}

static int is_generated(void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) == 0;
}

static void count(enum id id, enum kind kind, void *caller)
{
    if (is_generated(caller)) {
        __atomic_fetch_add(&records[id].calls[kind], 1, __ATOMIC_RELAXED);
    }
}

/* A descriptor that is in use here was closed by another library's function. */
static int opened(int fd, enum kind kind)
{
    if (fd >= 0 && fd < MAX_FD) {
        if (kinds[fd] != NONE) {
            __atomic_fetch_add(&records[ID_bypassed].calls[kinds[fd]], 1, __ATOMIC_RELAXED);
        }
        kinds[fd] = kind;
    }
    return fd;
}

#define CALLER __builtin_return_address(0)

/* The function of that name in the next library. */
#define NEXT(type, name, ...) \
    static type (*next)(__VA_ARGS__); \
    if (next == NULL) { \
        *(void **) &next = dlsym(RTLD_NEXT, #name); \
    }

#define WRAP(type, name, parameters, ...) \
    type name(int fd, __VA_ARGS__) \
    { \
        NEXT(type, name, int, __VA_ARGS__) \
        count(ID_##name, kind_of(fd), CALLER); \
        return next parameters; \
    }

WRAP(int, bind, (fd, name, length), const struct sockaddr *name, socklen_t length)
WRAP(int, connect, (fd, name, length), const struct sockaddr *name, socklen_t length)
WRAP(int, listen, (fd, backlog), int backlog)
WRAP(ssize_t, send, (fd, buf, n, flags), const void *buf, size_t n, int flags)
WRAP(ssize_t, sendto, (fd, buf, n, flags, name, length), const void *buf, size_t n, int flags,
    const struct sockaddr *name, socklen_t length)
WRAP(ssize_t, sendmsg, (fd, message, flags), const struct msghdr *message, int flags)
WRAP(int, sendmmsg, (fd, messages, n, flags), struct mmsghdr *messages, unsigned n, int flags)
WRAP(ssize_t, recv, (fd, buf, n, flags), void *buf, size_t n, int flags)
WRAP(ssize_t, recvfrom, (fd, buf, n, flags, name, length), void *buf, size_t n, int flags, struct sockaddr *name,
    socklen_t *length)
WRAP(ssize_t, recvmsg, (fd, message, flags), struct msghdr *message, int flags)
WRAP(int, recvmmsg, (fd, messages, n, flags, timeout), struct mmsghdr *messages, unsigned n, int flags,
    struct timespec *timeout)
WRAP(int, setsockopt, (fd, level, option, value, length), int level, int option, const void *value, socklen_t length)
WRAP(int, getsockopt, (fd, level, option, value, length), int level, int option, void *value, socklen_t *length)
WRAP(int, getsockname, (fd, name, length), struct sockaddr *name, socklen_t *length)
WRAP(int, getpeername, (fd, name, length), struct sockaddr *name, socklen_t *length)
WRAP(int, shutdown, (fd, how), int how)
WRAP(int, epoll_ctl, (fd, what, other, event), int what, int other, struct epoll_event *event)
WRAP(int, epoll_wait, (fd, events, n, timeout), struct epoll_event *events, int n, int timeout)
WRAP(ssize_t, read, (fd, buf, n), void *buf, size_t n)
WRAP(ssize_t, write, (fd, buf, n), const void *buf, size_t n)
WRAP(ssize_t, pread, (fd, buf, n, offset), void *buf, size_t n, off_t offset)
WRAP(ssize_t, pwrite, (fd, buf, n, offset), const void *buf, size_t n, off_t offset)

int socket(int domain, int type, int protocol)
{
    NEXT(int, socket, int, int, int)
    int is_generated_code = is_generated(CALLER);
    int is_internet = domain == AF_INET || domain == AF_INET6;
    enum kind kind = !is_internet ? OTHER : (type & 0xf) == SOCK_STREAM ? TCP : UDP;
    count(ID_socket, kind, CALLER);
    if (is_internet && getenv("SHIM_REFUSES") != NULL) {
        errno = ENOSYS;
        return -1;
    }
    int fd = next(domain, type, protocol);
    return is_generated_code ? opened(fd, kind) : fd;
}

int accept4(int fd, struct sockaddr *name, socklen_t *length, int flags)
{
    NEXT(int, accept4, int, struct sockaddr *, socklen_t *, int)
    int accepted = next(fd, name, length, flags);
    if (accepted >= 0 && is_generated(CALLER)) {
        count(ID_accept4, kind_of(fd), CALLER);
        opened(accepted, TCP);
    }
    return accepted;
}

int epoll_create1(int flags)
{
    NEXT(int, epoll_create1, int)
    int is_generated_code = is_generated(CALLER);
    count(ID_epoll_create1, EPOLL, CALLER);
    int fd = next(flags);
    return is_generated_code ? opened(fd, EPOLL) : fd;
}

int poll(struct pollfd *polled, nfds_t n, int timeout)
{
    NEXT(int, poll, struct pollfd *, nfds_t, int)
    count(ID_poll, n == 0 ? NONE : kind_of(polled[0].fd), CALLER);
    return next(polled, n, timeout);
}

int close(int fd)
{
    NEXT(int, close, int)
    enum kind kind = kind_of(fd);
    count(ID_close, kind, CALLER);
    if (fd >= 0 && fd < MAX_FD) {
        kinds[fd] = NONE;
    }
    return next(fd);
}

int openat(int folder, const char *path, int flags, ...)
{
    NEXT(int, openat, int, const char *, int, ...)
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    count(ID_openat, NONE, CALLER);
    return next(folder, path, flags, mode);
}
