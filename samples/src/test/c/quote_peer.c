/*
 * A publisher or a subscriber of the tutorial's quotes for libfabric, versions 1.17 to 2.x.
 *
 *   quote_peer PROVIDER publish|subscribe HOST PORT      HOST and PORT are the publisher's
 */
/* example: c-setup */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define SUBSCRIBE 1
#define QUOTE 2
#define BUFFERS 16
#define LENGTH 256

/* A message of quotes.xml: SBE's header, then the block. Both hosts are little endian. */
struct __attribute__((packed)) quote {
    uint16_t block_length, template_id, schema_id, version;
    int64_t sequence, bid, ask;
    char symbol[8];
};

/* The context of each operation: the provider uses the space until the completion. */
struct slot {
    struct fi_context2 context;
    char bytes[LENGTH];
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_ep *ep;
static struct slot slots[BUFFERS], sent;

static void check(long result, const char *call)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", call, fi_strerror((int) -result));
        exit(1);
    }
}

static void open_endpoint(const char *provider, const char *host, const char *port, uint64_t flags)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 256};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(FI_VERSION(1, 17), host, port, flags, hints, &info), "fi_getinfo");
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
    check(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
    check(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check(fi_enable(ep), "fi_enable");
    fi_freeinfo(hints);
}

static fi_addr_t peer_at(const void *address)
{
    fi_addr_t peer;

    check(fi_av_insert(av, address, 1, &peer, 0, NULL) == 1 ? 0 : -FI_EINVAL, "fi_av_insert");
    return peer;
}

static void await(struct fi_cq_tagged_entry *entry)
{
    struct fi_cq_err_entry error = {0};
    ssize_t count;

    while ((count = fi_cq_read(cq, entry, 1)) == -FI_EAGAIN)
        ;
    if (count == -FI_EAVAIL) {
        fi_cq_readerr(cq, &error, 0);
        count = -error.err;
    }
    check(count, "operation");
}

/* Repeats a call until the provider has room for it; reading the queue lets it work. */
#define POST(call) do { \
    long result_; \
    while ((result_ = (call)) == -FI_EAGAIN) \
        fi_cq_read(cq, NULL, 0); \
    check(result_, #call); \
} while (0)

static void post(struct slot *slot, uint64_t tag)
{
    POST(fi_trecv(ep, slot->bytes, LENGTH, NULL, FI_ADDR_UNSPEC, tag, 0, &slot->context));
}
/* end */

/* example: c-subscribe */
static void subscribe(void)
{
    struct fi_cq_tagged_entry entry;
    struct sockaddr_in own;
    size_t own_length = sizeof own;
    int32_t length;
    int received = 0;

    for (int i = 0; i < BUFFERS; i++)
        post(&slots[i], QUOTE);
    check(fi_getname(&ep->fid, &own, &own_length), "fi_getname");
    length = snprintf(sent.bytes + sizeof length, LENGTH - sizeof length, "fi_sockaddr_in://%s:%d",
        inet_ntoa(own.sin_addr), ntohs(own.sin_port));
    memcpy(sent.bytes, &length, sizeof length);
    POST(fi_tsend(ep, sent.bytes, sizeof length + length, NULL, peer_at(info->dest_addr), SUBSCRIBE, &sent.context));
    for (;;) {
        await(&entry);
        if (entry.op_context == &sent.context)
            continue;
        if (entry.len == 0)
            break;
        struct slot *slot = entry.op_context;
        struct quote *quote = (struct quote *) slot->bytes;

        printf("%" PRId64 " %.8s %f %f\n", quote->sequence, quote->symbol, quote->bid / 1e6, quote->ask / 1e6);
        received++;
        post(slot, QUOTE);
    }
    printf("received %d quotes\n", received);
}
/* end */

/* example: c-publish */
static void publish(int subscribers, int quotes)
{
    struct fi_cq_tagged_entry entry;
    fi_addr_t peers[BUFFERS];

    for (int i = 0; i < subscribers; i++)
        post(&slots[i], SUBSCRIBE);
    for (int i = 0; i < subscribers; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET};
        char host[LENGTH];
        int port;

        await(&entry);
        struct slot *slot = entry.op_context;
        slot->bytes[entry.len < LENGTH ? entry.len : LENGTH - 1] = 0;
        if (sscanf(slot->bytes + sizeof(int32_t), "fi_sockaddr_in://%255[^:]:%d", host, &port) != 2)
            check(-FI_EINVAL, "subscription");
        inet_pton(AF_INET, host, &address.sin_addr);
        address.sin_port = htons((uint16_t) port);
        peers[i] = peer_at(&address);
    }
    for (int i = 1; i <= quotes; i++) {
        struct quote quote = {32, 1, 1, 0, i, 1083400 + i, 1083600 + i, "EURUSD"};

        for (int to = 0; to < subscribers; to++)
            POST(fi_tinject(ep, &quote, sizeof quote, peers[to], QUOTE));
    }
    for (int to = 0; to < subscribers; to++) {
        struct fi_msg_tagged end = {.addr = peers[to], .tag = QUOTE, .context = &slots[to].context};

        POST(fi_tsendmsg(ep, &end, FI_DELIVERY_COMPLETE));
        await(&entry);
    }
    printf("published %d quotes to %d subscribers\n", quotes, subscribers);
}
/* end */

/* example: c-main */
int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: quote_peer PROVIDER publish|subscribe HOST PORT\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(argv[2], "publish")) {
        open_endpoint(argv[1], argv[3], argv[4], FI_SOURCE);
        puts("publisher");
        publish(2, 5);
    } else {
        open_endpoint(argv[1], argv[3], argv[4], 0);
        subscribe();
    }
    fi_close(&ep->fid);
    fi_close(&av->fid);
    fi_close(&cq->fid);
    fi_close(&domain->fid);
    fi_close(&fabric->fid);
    fi_freeinfo(info);
    return 0;
}
/* end */
