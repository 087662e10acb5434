package org.jfabric.driver.link.rxm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.VerbsUnavailableException;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

/** What discovery offers over rxm of remote memory and levels. */
class RxmLinkProviderTest {
    private static final long ATOMIC_ORDER = Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAW;
    private static final long ACCESS_ORDER = Order.STRICT & ~(Order.WAR | Order.SAR) | Order.RMA_RAR | Order.RMA_RAW
        | Order.RMA_WAW;

    private final DriverConfig usual = config(16 << 10);

    private static DriverConfig config(int eagerLimit) {
        return DriverConfig.builder().directory(Path.of("/tmp/not-opened"))
            .set("jfabric.rxm.eagerLimitBytes", Integer.toString(eagerLimit)).build();
    }

    private static RxmLinkProvider provider(boolean hasAccesses) {
        return new RxmLinkProvider("rxm", hasAccesses ? new TcpLinkProvider() : VerbsLinkProvider.ofPackets(() -> {
            throw new VerbsUnavailableException(new Reason("library", "none", "one", "Install it"));
        }));
    }

    private static Info offer(RxmLinkProvider provider, DriverConfig config) {
        return provider.info(new Info(), "driver", config);
    }

    private static Verdict verdict(long caps, DriverConfig config) {
        return provider(true).verdict(new Info().caps(caps), "driver", config);
    }

    @Test
    void accessesAndAtomicOperationsAreOfferedWithLibfabricsOrders() {
        Info offer = offer(provider(true), usual);
        assertEquals(Flags.RMA | Flags.ATOMIC, offer.caps() & (Flags.RMA | Flags.ATOMIC));
        assertEquals(ACCESS_ORDER | ATOMIC_ORDER, offer.txAttr().msgOrder());
        assertEquals(0, offer.epAttr().maxOrderWarSize());
        assertTrue(offer.epAttr().maxOrderWawSize() != 0);
        assertTrue(verdict(Flags.RMA | Flags.ATOMIC, usual).chosen());
    }

    @Test
    void reportsOfAccessesAreRefused() {
        Verdict verdict = verdict(Flags.RMA | Flags.RMA_EVENT, usual);
        assertEquals(1, verdict.reasons().size());
        assertTrue(verdict.reasons().toString().contains("RMA_EVENT"), verdict::toString);
    }

    @Test
    void connectionsWithoutAccessesHaveAtomicOperationsOnly() {
        Info offer = offer(provider(false), usual);
        assertEquals(Flags.ATOMIC, offer.caps() & (Flags.RMA | Flags.ATOMIC));
        assertEquals(ATOMIC_ORDER, offer.txAttr().msgOrder() & ATOMIC_ORDER);
    }

    @Test
    void packetsThatAreTooShortForThemCarryNoAtomicOperations() {
        assertTrue(verdict(Flags.ATOMIC, config(2144)).chosen());
        assertFalse(verdict(Flags.ATOMIC, config(2143)).chosen());
        assertTrue(verdict(Flags.RMA, config(2143)).chosen());
        Info offer = offer(provider(true), config(1024));
        assertEquals(Flags.RMA, offer.caps() & (Flags.RMA | Flags.ATOMIC));
        assertEquals(0, offer.txAttr().caps() & Flags.ATOMIC);
        assertEquals(ACCESS_ORDER, offer.txAttr().msgOrder());
        Info messages = offer(provider(false), config(1024));
        assertEquals(0, messages.caps() & (Flags.RMA | Flags.ATOMIC | Flags.READ | Flags.REMOTE_WRITE));
        assertEquals(Order.SAS, messages.rxAttr().msgOrder());
    }

    @Test
    void everyLevelCanBeAskedFor() {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.txAttr().opFlags(
            Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE);
        assertTrue(provider(true).verdict(hints, "driver", usual).chosen());
        assertEquals(Flags.INJECT_COMPLETE, offer(provider(true), usual).txAttr().opFlags());
    }
}
