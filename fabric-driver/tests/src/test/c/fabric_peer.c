/*
 * A program of libfabric for the interoperability tests: one endpoint that does what the lines on its standard input
 * say, and answers each with one line. The tests compile it with gcc and Debian's libfabric-dev.
 *
 *   fabric_peer PROVIDER msg|srx|rdm
 *
 *     PROVIDER   as fi_getinfo(3) names it: tcp, net, "tcp;ofi_rxm"
 *     msg|rdm    connected endpoints, or reliable datagrams
 *     srx        connected endpoints with tags, whose receives are those of a shared receive context
 *
 * Places in registered memory are offsets, as mr_mode 0 says.
 *
 *   line                            answer
 *   connect HOST PORT               connected      connects (msg), or names the peer of all operations (rdm)
 *   accept                          connected      waits for a connection (msg)
 *   region KEY LENGTH rw|r|w        region KEY     memory for the peer; the first one has slot 1
 *   fill SLOT OFFSET LENGTH SEED    ok             bytes (SEED + 7 * i) % 256 into a region; slot 0 is local memory
 *   bytes SLOT OFFSET LENGTH        bytes HEX
 *   write LENGTH ADDR KEY FLAGS     done | error NAME      from the start of local memory; waits for the completion
 *   writedata LENGTH ADDR KEY DATA  done | error NAME
 *   writev LENGTH ADDR KEY          done | error NAME      as two ranges of half the length each, if the provider can
 *   inject LENGTH ADDR KEY          done | error NAME
 *   read LENGTH ADDR KEY            done | error NAME      to the start of local memory
 *   atomic OP TYPE COUNT ADDR KEY   done | error NAME      OP and TYPE as in fi_atomic.h; operands from the start of
 *                                                  local memory
 *   fetch OP TYPE COUNT ADDR KEY    done | error NAME      old values to offset 65536 of local memory
 *   compare OP TYPE COUNT ADDR KEY  done | error NAME      compare values from offset 131072
 *   fetchv OP TYPE COUNT ADDR KEY   done | error NAME      on two ranges of COUNT elements, at ADDR and ADDR + 4096
 *   valid FORM OP TYPE              valid COUNT            COUNT 0: there is none; FORM 0 atomic, 1 fetch, 2 compare
 *   send LENGTH                     done | error NAME
 *   tsend LENGTH TAG                done | error NAME      (srx)
 *   treceive LENGTH TAG             ok             posts a receive to the shared context (srx)
 *   receive LENGTH                  ok             posts a receive to the start of local memory
 *   await                           entry FLAGS LENGTH DATA | error NAME     the next completion
 *   lost                            lost           waits for the end of the connection (msg)
 *   quit
 *
 * FLAGS: "-", or d for delivery complete. Numbers are decimal or, with 0x, hexadecimal.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define MAX_REGIONS 16
#define LOCAL_LENGTH (8 << 20)
#define PATIENCE_S 30

struct region {
    char *bytes;
    size_t length;
    struct fid_mr *mr;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_eq *eq;
static struct fid_domain *domain;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_pep *pep;
static struct fid_ep *ep;
/* The shared receive context, or null. */
static struct fid_ep *srx;
static fi_addr_t peer = FI_ADDR_UNSPEC;
static struct region regions[MAX_REGIONS];
static int region_count;
static struct fi_context2 context;
static int is_msg;
static int is_shared;

static void check(long result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, fi_strerror((int) -result));
        exit(1);
    }
}

static void answer(const char *line)
{
    puts(line);
    fflush(stdout);
}

/* Waits for input; a provider with manual progress works meanwhile. */
static int next_line(char *line, size_t size)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    while (poll(&in, 1, 1) == 0) {
        if (cq)
            fi_cq_read(cq, NULL, 0);
    }
    return fgets(line, (int) size, stdin) != NULL;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static const char *error_name(long error)
{
    static char name[32];

    snprintf(name, sizeof name, "%ld", error < 0 ? -error : error);
    return name;
}

/* The next completion: 0, or a negative error. */
static long completion(struct fi_cq_data_entry *entry)
{
    struct fi_cq_err_entry error = {0};
    double begin = now_s();
    ssize_t got;

    for (;;) {
        got = fi_cq_read(cq, entry, 1);
        if (got == 1)
            return 0;
        if (got == -FI_EAVAIL) {
            fi_cq_readerr(cq, &error, 0);
            return -(long) error.err;
        }
        if (got != -FI_EAGAIN)
            return got;
        if (now_s() - begin > PATIENCE_S)
            return -FI_ETIMEDOUT;
    }
}

/* Waits for the completion of an operation that was posted with this result; entries of the peer's are not expected. */
static void finish(long posted)
{
    struct fi_cq_data_entry entry;
    long result = posted == 0 ? completion(&entry) : posted;

    if (result == 0) {
        answer("done");
    } else {
        printf("error %s\n", error_name(result));
        fflush(stdout);
    }
}

/* Repeats a call while the provider says that it cannot now, as while it connects. */
#define POSTED(call) ({ \
    long posted_; \
    double begin_ = now_s(); \
    while ((posted_ = (call)) == -FI_EAGAIN && now_s() - begin_ < PATIENCE_S) \
        fi_cq_read(cq, NULL, 0); \
    posted_; })

static struct region *add_region(uint64_t key, size_t length, uint64_t access)
{
    struct region *region = &regions[region_count++];

    region->length = length;
    region->bytes = calloc(1, length);
    check(fi_mr_reg(domain, region->bytes, length, access, 0, key, 0, &region->mr, NULL), "fi_mr_reg");
    return region;
}

static void *desc(void)
{
    return fi_mr_desc(regions[0].mr);
}

static void open_endpoint(struct fi_info *from)
{
    check(fi_endpoint(domain, from, &ep, NULL), "fi_endpoint");
    check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "bind of the completion queue");
    if (srx)
        check(fi_ep_bind(ep, &srx->fid, 0), "bind of the shared receive context");
    if (is_msg)
        check(fi_ep_bind(ep, &eq->fid, 0), "bind of the event queue");
    else
        check(fi_ep_bind(ep, &av->fid, 0), "bind of the address vector");
    check(fi_enable(ep), "fi_enable");
}

static void open_all(const char *provider)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA, .size = 256};
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct sockaddr_in name;
    size_t length = sizeof name;

    hints->ep_attr->type = is_msg ? FI_EP_MSG : FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | (strstr(provider, "rxm") ? FI_ATOMIC | FI_TAGGED : 0);
    if (is_shared) {
        hints->caps = FI_MSG | FI_TAGGED;
        hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    }
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode = 0;
    hints->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info), "fi_getinfo");
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_eq_open(fabric, &eq_attr, &eq, NULL), "fi_eq_open");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
    if (is_shared)
        check(fi_srx_context(domain, info->rx_attr, &srx, NULL), "fi_srx_context");
    if (is_msg) {
        check(fi_passive_ep(fabric, info, &pep, NULL), "fi_passive_ep");
        check(fi_pep_bind(pep, &eq->fid, 0), "bind of the passive endpoint");
        check(fi_listen(pep), "fi_listen");
        check(fi_getname(&pep->fid, &name, &length), "fi_getname");
    } else {
        check(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
        open_endpoint(info);
        check(fi_getname(&ep->fid, &name, &length), "fi_getname");
    }
    add_region(0xFFFF, LOCAL_LENGTH, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
    printf("listening %s %d data %zu order 0x%" PRIx64 " provider %s\n", inet_ntoa(name.sin_addr),
        ntohs(name.sin_port), info->domain_attr->cq_data_size, info->tx_attr->msg_order,
        info->fabric_attr->prov_name);
    fflush(stdout);
    fi_freeinfo(hints);
}

/* Waits for an event of the connection and returns its info, which is null but for requests. */
static struct fi_info *await_event(uint32_t wanted)
{
    struct fi_eq_cm_entry entry;
    uint32_t event = 0;
    double begin = now_s();

    do {
        ssize_t got = fi_eq_sread(eq, &event, &entry, sizeof entry, 10, 0);

        if (cq)
            fi_cq_read(cq, NULL, 0);
        if (got < 0 && got != -FI_EAGAIN && got != -FI_ETIMEDOUT)
            check(got, "fi_eq_sread");
        if (got >= 0 && event == wanted)
            return wanted == FI_CONNREQ ? entry.info : NULL;
    } while (now_s() - begin < PATIENCE_S);
    check(-FI_ETIMEDOUT, "an event");
    return NULL;
}

static void connect_to(const char *host, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t) port)};

    inet_pton(AF_INET, host, &to.sin_addr);
    if (is_msg) {
        open_endpoint(info);
        check(fi_connect(ep, &to, NULL, 0), "fi_connect");
        await_event(FI_CONNECTED);
    } else {
        check(fi_av_insert(av, &to, 1, &peer, 0, NULL) - 1, "fi_av_insert");
    }
    answer("connected");
}

static void accept_one(void)
{
    struct fi_info *request = await_event(FI_CONNREQ);

    open_endpoint(request);
    check(fi_accept(ep, NULL, 0), "fi_accept");
    fi_freeinfo(request);
    await_event(FI_CONNECTED);
    answer("connected");
}

static void print_bytes(const char *from, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    fputs("bytes ", stdout);
    for (size_t i = 0; i < length; i++) {
        putchar_unlocked(digits[(unsigned char) from[i] >> 4]);
        putchar_unlocked(digits[from[i] & 15]);
    }
    answer("");
}

/* Registered memory: slot 0 is local, the others are for the peer. */
static void do_region(const char *line)
{
    uint64_t key;
    size_t length;
    char rights[4];

    sscanf(line, "%*s %" SCNi64 " %zi %3s", (int64_t *) &key, (ssize_t *) &length, rights);
    struct region *region = add_region(key, length, (strchr(rights, 'r') ? FI_REMOTE_READ : 0)
        | (strchr(rights, 'w') ? FI_REMOTE_WRITE : 0));
    printf("region %" PRIu64 "\n", fi_mr_key(region->mr));
    fflush(stdout);
}

/* Operations on memory of the peer; false if the line is none. */
static int do_access(const char *line)
{
    char command[16];
    char flags[24] = "-";
    size_t length;
    uint64_t addr;
    uint64_t key;
    char *local = regions[0].bytes;
    int got = sscanf(line, "%15s %zi %" SCNi64 " %" SCNi64 " %23s", command, (ssize_t *) &length, (int64_t *) &addr,
        (int64_t *) &key, flags);

    if (got < 4)
        return 0;
    if (!strcmp(command, "write") || !strcmp(command, "writev")) {
        size_t halves[2] = {length / 2, length - length / 2};
        struct iovec iov = {.iov_base = local, .iov_len = length};
        struct fi_rma_iov ranges[2] = {{addr, halves[0], key}, {addr + halves[0], halves[1], key}};
        struct fi_rma_iov whole = {addr, length, key};
        int is_vector = !strcmp(command, "writev");
        void *descs[1] = {desc()};
        struct fi_msg_rma msg = {.msg_iov = &iov, .desc = descs, .iov_count = 1, .addr = peer,
            .rma_iov = is_vector ? ranges : &whole, .rma_iov_count = is_vector ? 2 : 1, .context = &context};

        finish(POSTED(fi_writemsg(ep, &msg, FI_COMPLETION
            | (flags[0] == 'd' ? FI_DELIVERY_COMPLETE : flags[0] == 'c' ? FI_COMMIT_COMPLETE : 0))));
    } else if (!strcmp(command, "writedata")) {
        uint64_t data = strtoull(flags, NULL, 0);

        finish(POSTED(fi_writedata(ep, local, length, desc(), data, peer, addr, key, &context)));
    } else if (!strcmp(command, "inject")) {
        long posted = POSTED(fi_inject_write(ep, local, length, peer, addr, key));

        if (posted == 0)
            answer("done");
        else
            finish(posted);
    } else if (!strcmp(command, "read")) {
        finish(POSTED(fi_read(ep, local, length, desc(), peer, addr, key, &context)));
    } else {
        return 0;
    }
    return 1;
}

/* Takes the further reports of an error: rxm of libfabric 1.17 reports a refused atomic operation several times. */
static void drop_repeated_errors(void)
{
    struct fi_cq_data_entry entry;
    struct fi_cq_err_entry error = {0};

    while (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL)
        fi_cq_readerr(cq, &error, 0);
}

/* Atomic operations on memory of the peer; false if the line is none. */
static int do_atomic(const char *line)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    char command[16];
    int op;
    int type;
    size_t count;
    uint64_t addr;
    uint64_t key;
    char *local = regions[0].bytes;
    char *old = local + 65536;
    char *compare = local + 131072;
    int got = sscanf(line, "%15s %d %d %zi %" SCNi64 " %" SCNi64, command, &op, &type, (ssize_t *) &count,
        (int64_t *) &addr, (int64_t *) &key);

    if (!strcmp(command, "valid") && got == 4) {
        size_t most = 0;
        int form = op;
        int refused = form == 0 ? fi_atomicvalid(ep, (enum fi_datatype) count, (enum fi_op) type, &most)
            : form == 1 ? fi_fetch_atomicvalid(ep, (enum fi_datatype) count, (enum fi_op) type, &most)
            : fi_compare_atomicvalid(ep, (enum fi_datatype) count, (enum fi_op) type, &most);

        printf("valid %zu\n", refused ? 0 : most);
        fflush(stdout);
        return 1;
    }
    if (got < 6)
        return 0;
    drop_repeated_errors();
    if (!strcmp(command, "atomic")) {
        finish(POSTED(fi_atomic(ep, local, count, desc(), peer, addr, key, type, op, &context)));
    } else if (!strcmp(command, "fetch")) {
        finish(POSTED(fi_fetch_atomic(ep, local, count, desc(), old, desc(), peer, addr, key, type, op, &context)));
    } else if (!strcmp(command, "compare")) {
        finish(POSTED(fi_compare_atomic(ep, local, count, desc(), compare, desc(), old, desc(), peer, addr, key, type,
            op, &context)));
    } else if (!strcmp(command, "fetchv")) {
        struct fi_ioc operands[2] = {{local, count}, {local + count * sizes[type], count}};
        struct fi_ioc results = {old, 2 * count};
        struct fi_rma_ioc ranges[2] = {{addr, count, key}, {addr + 4096, count, key}};
        void *descs[2] = {desc(), desc()};
        struct fi_msg_atomic msg = {.msg_iov = operands, .desc = descs, .iov_count = 2, .addr = peer,
            .rma_iov = ranges, .rma_iov_count = 2, .datatype = type, .op = op, .context = &context};

        finish(POSTED(fi_fetch_atomicmsg(ep, &msg, &results, descs, 1, FI_COMPLETION)));
    } else {
        return 0;
    }
    return 1;
}

static int do_line(const char *line)
{
    char command[16] = "";
    char host[64];
    int slot;
    int port;
    int seed;
    size_t offset;
    size_t length;

    sscanf(line, "%15s", command);
    if (!strcmp(command, "connect") && sscanf(line, "%*s %63s %d", host, &port) == 2) {
        connect_to(host, port);
    } else if (!strcmp(command, "accept")) {
        accept_one();
    } else if (!strcmp(command, "region")) {
        do_region(line);
    } else if (!strcmp(command, "fill")
        && sscanf(line, "%*s %d %zi %zi %d", &slot, (ssize_t *) &offset, (ssize_t *) &length, &seed) == 4) {
        for (size_t i = 0; i < length; i++)
            regions[slot].bytes[offset + i] = (char) (seed + 7 * i);
        answer("ok");
    } else if (!strcmp(command, "bytes")
        && sscanf(line, "%*s %d %zi %zi", &slot, (ssize_t *) &offset, (ssize_t *) &length) == 3) {
        print_bytes(regions[slot].bytes + offset, length);
    } else if (!strcmp(command, "send") && sscanf(line, "%*s %zi", (ssize_t *) &length) == 1) {
        finish(POSTED(fi_send(ep, regions[0].bytes, length, desc(), peer, &context)));
    } else if (!strcmp(command, "receive") && sscanf(line, "%*s %zi", (ssize_t *) &length) == 1) {
        check(fi_recv(ep, regions[0].bytes, length, desc(), FI_ADDR_UNSPEC, &context), "fi_recv");
        answer("ok");
    } else if (!strcmp(command, "tsend") && sscanf(line, "%*s %zi %d", (ssize_t *) &length, &seed) == 2) {
        finish(POSTED(fi_tsend(ep, regions[0].bytes, length, desc(), peer, (uint64_t) seed, &context)));
    } else if (!strcmp(command, "treceive") && srx && sscanf(line, "%*s %zi %d", (ssize_t *) &length, &seed) == 2) {
        check(fi_trecv(srx, regions[0].bytes, length, desc(), FI_ADDR_UNSPEC, (uint64_t) seed, 0, &context),
            "fi_trecv");
        answer("ok");
    } else if (!strcmp(command, "await")) {
        struct fi_cq_data_entry entry = {0};
        long result = completion(&entry);

        if (result == 0)
            printf("entry 0x%" PRIx64 " %zu 0x%" PRIx64 "\n", entry.flags, entry.len, entry.data);
        else
            printf("error %s\n", error_name(result));
        fflush(stdout);
    } else if (!strcmp(command, "lost")) {
        await_event(FI_SHUTDOWN);
        answer("lost");
    } else if (!strcmp(command, "quit")) {
        return 0;
    } else if (!do_access(line) && !do_atomic(line)) {
        answer("unknown");
    }
    return 1;
}

int main(int count, char **arguments)
{
    char line[256];

    if (count != 3) {
        fprintf(stderr, "usage: %s PROVIDER msg|srx|rdm\n", arguments[0]);
        return 2;
    }
    is_shared = !strcmp(arguments[2], "srx");
    is_msg = is_shared || !strcmp(arguments[2], "msg");
    open_all(arguments[1]);
    while (next_line(line, sizeof line) && do_line(line)) {
    }
    /* a peer that waits is told of the end: the process leaves its sockets to the system */
    return 0;
}
