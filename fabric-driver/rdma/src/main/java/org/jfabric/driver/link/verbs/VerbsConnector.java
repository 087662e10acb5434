package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.MessageConnector;
import org.jfabric.driver.link.support.TrafficMarks;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;

/**
 * Makes connections with the RDMA connection manager, with private data in libfabric's envelope.
 *
 * <p>Owner: progress agent.
 */
final class VerbsConnector extends MessageConnector {
    private static final byte[] NO_DATA = {};

    private final VerbsLink link;
    private final List<VerbsListener> listeners = new ArrayList<>();

    VerbsConnector(VerbsLink link) {
        this.link = link;
    }

    @Override
    public int cmDataBytes() {
        return PrivateData.MAX_LENGTH;
    }

    @Override
    public int postedReceives() {
        return link.nextSettings().receives();
    }

    @Override
    public Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler) {
        VerbsListener listener = new VerbsListener(handler);
        if (!link.isUsable()) {
            link.later(() -> listener.fail(FabricErrno.ENODEV));
        } else if (authKey.length != 0) {
            link.later(() -> listener.fail(FabricErrno.EOPNOTSUPP));
        } else if (!SocketName.isName(address)) {
            link.later(() -> listener.fail(FabricErrno.EINVAL));
        } else {
            listener.listen(SocketName.parse(address));
        }
        return listener;
    }

    @Override
    public Listener listen(BoundAddress bound, byte[] authKey, int backlog, ListenerHandler handler) {
        VerbsListener listener = new VerbsListener(handler);
        if (link.isUsable()) {
            listener.take((VerbsAddress) bound);
        } else {
            // the driver could not use the connection manager when it started, even if it could now
            link.later(() -> {
                bound.close();
                listener.fail(FabricErrno.ENODEV);
            });
        }
        return listener;
    }

    @Override
    public VerbsChannel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
        VerbsConnection connection = new VerbsConnection(link, 0, cmData, memoryDomain(endpoint), handler);
        SocketName remote = SocketName.parse(remoteAddress);
        connection.ask(
            local(endpoint, remote), remote.toBytes(), TrafficMarks.of(endpoint.trafficClass()).tos());
        return connection.channel();
    }

    /** The local address of the connection, with any port; null if the system chooses it. */
    private static byte[] local(LocalEndpoint endpoint, SocketName remote) {
        String address = endpoint.address();
        if (!SocketName.isName(address)) {
            return null;
        }
        SocketName local = SocketName.parse(address).withPort(0);
        return local.isIn6() == remote.isIn6() && !local.inetAddress().isAnyLocalAddress() ? local.toBytes() : null;
    }

    VerbsChannel accept(
        long id, boolean isGone, LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler) {
        VerbsConnection connection = new VerbsConnection(link, id, cmData, memoryDomain(endpoint), handler);
        link.register(id, connection);
        if (isGone) {
            connection.failLater(FabricErrno.ECONNABORTED);
        } else {
            connection.build();
        }
        return connection.channel();
    }

    /** A protocol above has packets for atomic operations, which need no key of the card. */
    private Object memoryDomain(LocalEndpoint endpoint) {
        return endpoint.memoryDomain(link.settings().exposes() ? Flags.RMA : Flags.RMA | Flags.ATOMIC);
    }

    void reject(long id, byte[] cmData) {
        RdmaCm cm = link.libraries().cm();
        link.unregister(id);
        CmTask.submit(link.services(), () -> {
            // a peer that has given up meanwhile gets no answer, as it should
            cm.reject(id, PrivateData.wrap(cmData));
            cm.destroyId(id);
        });
    }

    /** The driver closes: no handler is called. */
    void close() {
        List.copyOf(listeners).forEach(VerbsListener::close);
    }

    /** A passive endpoint. */
    private final class VerbsListener extends Listener {
        private final ListenerHandler handler;
        /** Resource thread; null before the bind and if it has failed. */
        private VerbsAddress bound;
        private long id;
        private boolean isClosed;

        VerbsListener(ListenerHandler handler) {
            this.handler = handler;
            listeners.add(this);
        }

        void listen(SocketName name) {
            CmTask.submit(link.services(), () -> {
                try {
                    bound = VerbsAddress.open(link.libraries().cm(), name);
                } catch (FabricException e) {
                    return -e.errno();
                }
                return take();
            }, this::begin);
        }

        void take(VerbsAddress given) {
            bound = given;
            CmTask.submit(link.services(), this::take, this::begin);
        }

        private int take() {
            long taken = bound.take(link.cmChannel());
            id = Math.max(0, taken);
            return taken == 0 ? -FabricErrno.EBADF : (int) Math.min(0, taken);
        }

        private void begin(int result) {
            if (isClosed) {
                return;
            }
            if (result < 0) {
                fail(-result);
                return;
            }
            // registered before the first request from the event channel is dispatched
            link.register(id, new CmTarget() {
                @Override
                void onEvent(RdmaCm.CmEvent event) {
                    if (event.type() == VerbsConstants.CM_CONNECT_REQUEST) {
                        onRequest(event);
                    } else if (event.type() == VerbsConstants.CM_DEVICE_REMOVAL) {
                        fail(FabricErrno.ENODEV);
                    }
                }
            });
            handler.onListening(bound.address());
        }

        void fail(int errno) {
            if (!isClosed) {
                close();
                handler.onFailed(errno);
            }
        }

        private void onRequest(RdmaCm.CmEvent event) {
            VerbsIncoming incoming = new VerbsIncoming(VerbsConnector.this, link.libraries().cm(), event);
            link.register(event.id(), incoming.target());
            if (!handler.onRequest(incoming)) {
                reject(event.id(), NO_DATA);
            }
        }

        @Override
        public void close() {
            isClosed = true;
            listeners.remove(this);
            link.unregister(id);
            CmTask.submit(link.services(), () -> {
                if (id != 0) {
                    link.libraries().cm().destroyId(id);
                    id = 0;
                }
                if (bound != null) {
                    // closes it if it was not taken over
                    bound.close();
                }
            });
        }
    }
}
