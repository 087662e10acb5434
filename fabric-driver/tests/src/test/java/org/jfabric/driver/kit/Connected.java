package org.jfabric.driver.kit;

import org.jfabric.Endpoint;
import org.jfabric.PassiveEndpoint;
import org.jfabric.info.EventType;
import org.jfabric.info.Info;

/** Two connected endpoints in the applications of a {@link FabricPair}: the one of a has asked the one of b. */
public final class Connected implements AutoCloseable {
    public static final long CONTEXT_A = 0xA1;
    public static final long CONTEXT_B = 0xB1;

    public final FabricPair pair;
    public final ConnectionSide a;
    public final ConnectionSide b;
    public final PassiveEndpoint passive;
    public final Endpoint endpointA;
    public final Endpoint endpointB;

    public Connected(Setup setup) {
        this(setup, ConnectionSide.hints());
    }

    public Connected(Setup setup, Info hints) {
        this(new FabricPair(setup), hints);
    }

    public Connected(FabricPair pair, Info hints) {
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
