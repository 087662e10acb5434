package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;

/**
 * What the peers of an endpoint report: to the log, to the counters, and to the application.
 *
 * <p>Owner: progress agent.
 */
final class EndpointPeers extends PeerContext {
    private final EngineEndpoint endpoint;
    private final Engine engine;
    private final AddressTable addresses;
    /** Address of the counter of bytes that were read beyond the budget; 0 if there were none. */
    private long beyondCounter;

    EndpointPeers(EngineEndpoint endpoint, Engine engine, AddressTable addresses) {
        this.endpoint = endpoint;
        this.engine = engine;
        this.addresses = addresses;
    }

    @Override
    EngineSettings settings() {
        return engine.settings();
    }

    @Override
    StageTimes stages() {
        return engine.stages();
    }

    @Override
    int eagerLimitBytes() {
        return endpoint.settings().eagerLimitBytes();
    }

    @Override
    void leaveQuick() {
        engine.leaveQuick();
    }

    @Override
    void onNextLink(int errno, String address) {
        endpoint.log(EventKind.PEER_BY_NEXT_LINK, errno, 0, address);
    }

    @Override
    void forget(Peer peer) {
        endpoint.peers().forget(peer);
    }

    @Override
    void onForgotten(Peer peer) {
        engine.meters().close(endpoint, peer);
    }

    @Override
    void onReadBeyondBudget(Peer peer, long bytes) {
        if (beyondCounter == 0) {
            beyondCounter = engine.counters().open(MetricLabel.OTHER, "bytes that " + endpoint.settings().address()
                + " has read beyond jfabric.engine.unexpectedBudgetBytes");
            endpoint.log(EventKind.READ_BEYOND_BUDGET, bytes, 0, peer.address());
        }
        UnsafeApi.putLongRelease(null, beyondCounter, UnsafeApi.getLong(beyondCounter) + bytes);
    }

    @Override
    void onBudgetUsedUp(Peer peer) {
        engine.log().onError(new FabricException(FabricErrno.ENOSPC, endpoint.settings().address() + " does not read "
            + peer.address() + " although a posted receive may wait for one of its messages: those without a"
            + " receive use 16 times jfabric.engine.unexpectedBudgetBytes",
            "Post their receives, in about the order in which they are sent, or raise that option."));
    }

    @Override
    long openWaitCounter(Peer peer, WaitLabel reason) {
        boolean isOwn = reason == WaitLabel.CREDIT;
        String own = endpoint.settings().address();
        return engine.counters().open(MetricLabel.GAUGE,
            reason.text(isOwn ? own : peer.address(), isOwn ? peer.address() : own));
    }

    @Override
    void closeCounter(long address) {
        engine.counters().close(address);
    }

    @Override
    long nowNs() {
        return engine.clock().nowNs();
    }

    @Override
    void onPeerUp(Peer peer) {
        endpoint.log(EventKind.PEER_UP, peer.sourceAddress(), 0, peer.address());
    }

    @Override
    void onCreditWaitBegan(Peer peer, int sends) {
        endpoint.log(EventKind.CREDIT_WAIT_BEGAN, sends, 0, peer.address());
    }

    @Override
    void onCreditWaitEnded(Peer peer, long ns, int sends) {
        endpoint.log(EventKind.CREDIT_WAIT_ENDED, ns, sends, peer.address());
    }

    @Override
    int errnoOfOperations(int errno) {
        return !endpoint.settings().connects() && errno == FabricErrno.ESHUTDOWN ? FabricErrno.ECONNRESET : errno;
    }

    @Override
    void onPeerDown(Peer peer, int errno) {
        LinkFailure failure = endpoint.peers().failure();
        int provErrno = failure.of(errno);
        endpoint.log(EventKind.PEER_DOWN, errno, provErrno, peer.address());
        try {
            if (endpoint.settings().connects()) {
                endpoint.connection().onPeerDown(errno);
                return;
            }
        } finally {
            failure.end();
        }
        // the address that the application has inserted, of which that peer may have a part only
        String inserted = peer.source() < 0 ? null : addresses.address(peer.source());
        endpoint.session().listener().onPeerDown(
            endpoint.session().clientId(), endpoint.settings().id(), peer.sourceAddress(), errno, provErrno,
            inserted == null ? peer.endpointAddress() : inserted);
    }

    @Override
    void onViolation(Peer peer, String reason) {
        engine.onViolation(endpoint, peer, reason);
    }

    void close() {
        if (beyondCounter != 0) {
            closeCounter(beyondCounter);
            beyondCounter = 0;
        }
    }
}
