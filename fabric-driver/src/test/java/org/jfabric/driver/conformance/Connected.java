package org.jfabric.driver.conformance;

import org.jfabric.Endpoint;
import org.jfabric.EventType;
import org.jfabric.Info;
import org.jfabric.PassiveEndpoint;

/** Two connected endpoints in the applications of a {@link FabricPair}: the one of a has asked the one of b. */
final class Connected implements AutoCloseable {
    static final long CONTEXT_A = 0xA1;
    static final long CONTEXT_B = 0xB1;

    final FabricPair pair;
    final ConnectionSide a;
    final ConnectionSide b;
    final PassiveEndpoint passive;
    final Endpoint endpointA;
    final Endpoint endpointB;

    Connected(Setup setup) {
        this(setup, ConnectionSide.hints());
    }

    Connected(Setup setup, Info hints) {
        this(new FabricPair(setup), hints);
    }

    Connected(FabricPair pair, Info hints) {
        this.pair = pair;
        a = new ConnectionSide(pair, pair.a, hints);
        b = new ConnectionSide(pair, pair.b, hints);
        passive = b.listen(-1);
        endpointA = a.open(CONTEXT_A);
        endpointA.connect(passive.name());
        ConnectionSide.Event request = b.next(EventType.CONNREQ, passive);
        endpointB = b.open(request.info(), CONTEXT_B);
        endpointB.accept();
        a.next(EventType.CONNECTED, endpointA);
        b.next(EventType.CONNECTED, endpointB);
    }

    @Override
    public void close() {
        pair.close();
    }
}
