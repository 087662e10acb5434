package org.jfabric.driver.link.udp.dtls;

import java.util.function.Supplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.info.FabricException;

/**
 * The dtls link's counters of what it refuses. A counter is allocated when it is first used. Peers can cause these
 * errors without limit, so that only the first ones go to the error log, which has a fixed size.
 *
 * <p>Owner: progress agent.
 */
final class DtlsCounters {
    /** One of them, by its label. */
    enum Kind {
        UNPROVED("handshakes that did not prove the peer"),
        REFUSED("handshakes refused because of limits"),
        NOT_ADMITTED("handshakes refused by the access list"),
        PLAIN("datagrams dropped because they are plain"),
        FORGED("datagrams dropped because they were changed or repeated"),
        WITHOUT_SESSION("datagrams dropped because there was no session"),
        WITHOUT_RECEIVE("datagrams dropped because no receive was posted");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    private static final int LOGGED = 64;

    private final LinkServices services;
    private final long[] addresses = new long[Kind.values().length];
    private int logged;

    DtlsCounters(LinkServices services) {
        this.services = services;
    }

    long address(Kind kind) {
        int index = kind.ordinal();
        if (addresses[index] == 0) {
            addresses[index] = services.counterAddress("dtls: " + kind.label);
        }
        return addresses[index];
    }

    void add(Kind kind) {
        long counter = address(kind);
        UnsafeApi.putLongRelease(null, counter, UnsafeApi.getLong(counter) + 1);
    }

    /** Counts, and logs the reason, whose text is made only for that. */
    void add(Kind kind, int errno, Supplier<String> text, String remedy) {
        add(kind);
        if (logged < LOGGED) {
            logged++;
            services.onError(new FabricException(errno, text.get(), remedy));
        }
    }
}
