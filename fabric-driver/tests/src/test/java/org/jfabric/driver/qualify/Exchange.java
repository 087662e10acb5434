package org.jfabric.driver.qualify;

/** Endpoints of a kind, as libfabric 1.18 and later call their provider and type. */
enum Exchange {
    VERBS_MSG("verbs", "msg", "verbs"),
    VERBS_RXM("verbs;ofi_rxm", "rdm", "verbsrxm"),
    VERBS_DGRAM("verbs", "dgram", "verbsud"),
    TCP_MSG("tcp", "msg", "tcp"),
    TCP_RDM("tcp", "rdm", "tcp"),
    TCP_RXM("tcp;ofi_rxm", "rdm", "rxm"),
    UDP("udp", "dgram", "udp"),
    /** The same wire as udp, so programs of C call it that. */
    PACKET("packet", "dgram", "packet");

    final String provider;
    final String type;
    /** Name of the link here. */
    final String link;

    Exchange(String provider, String type, String link) {
        this.provider = provider;
        this.type = type;
        this.link = link;
    }

    boolean isDatagrams() {
        return type.equals("dgram");
    }

    /** The provider as a C program of 1.17 calls it. */
    String providerOf117() {
        return switch (this) {
            case TCP_RDM -> "net";
            case TCP_RXM -> "tcp";
            default -> providerOfC();
        };
    }

    String providerOfC() {
        return this == PACKET ? "udp" : provider;
    }

    @Override
    public String toString() {
        return provider + ' ' + type;
    }
}
