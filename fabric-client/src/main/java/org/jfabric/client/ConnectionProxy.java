package org.jfabric.client;

import org.agrona.ExpandableArrayBuffer;
import org.jfabric.codec.control.AcceptConnectionEncoder;
import org.jfabric.codec.control.ConnectEndpointEncoder;
import org.jfabric.codec.control.ExplainPathEncoder;
import org.jfabric.codec.control.JoinGroupEncoder;
import org.jfabric.codec.control.LeaveGroupEncoder;
import org.jfabric.codec.control.ListenEncoder;
import org.jfabric.codec.control.NamePassiveEndpointEncoder;
import org.jfabric.codec.control.OpenPassiveEndpointEncoder;
import org.jfabric.codec.control.RejectConnectionEncoder;
import org.jfabric.codec.control.ShutdownEndpointEncoder;

/**
 * Encodes the commands of connections. Every call answers 0 or {@code -FI_EAGAIN}.
 *
 * <p>Owner: whoever holds the conductor's lock of commands.
 */
final class ConnectionProxy {
    private final DriverProxy proxy;
    private final ExpandableArrayBuffer body = new ExpandableArrayBuffer(1024);

    ConnectionProxy(DriverProxy proxy) {
        this.proxy = proxy;
    }

    int openPassiveEndpoint(long correlationId, String address, String linkName, byte[] authKey) {
        new OpenPassiveEndpointEncoder().wrap(body, 0).correlationId(correlationId);
        int next = InfoCodec.putText(body, OpenPassiveEndpointEncoder.BLOCK_LENGTH, "address", address);
        next = InfoCodec.putText(body, next, "link name", linkName);
        return proxy.submit(OpenPassiveEndpointEncoder.TEMPLATE_ID, body,
            InfoCodec.putBytes(body, next, "authorization key", authKey));
    }

    int namePassiveEndpoint(long correlationId, long passiveId, String address) {
        new NamePassiveEndpointEncoder().wrap(body, 0).correlationId(correlationId).passiveId(passiveId);
        return proxy.submit(NamePassiveEndpointEncoder.TEMPLATE_ID, body,
            InfoCodec.putText(body, NamePassiveEndpointEncoder.BLOCK_LENGTH, "address", address));
    }

    int listen(long correlationId, long passiveId, int backlog) {
        ListenEncoder encoder = new ListenEncoder().wrap(body, 0).correlationId(correlationId).passiveId(passiveId)
            .backlog(backlog);
        return proxy.submit(ListenEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    int connect(long correlationId, long endpointId, String address, byte[] cmData) {
        new ConnectEndpointEncoder().wrap(body, 0).correlationId(correlationId).endpointId(endpointId);
        int next = InfoCodec.putText(body, ConnectEndpointEncoder.BLOCK_LENGTH, "address", address);
        return proxy.submit(
            ConnectEndpointEncoder.TEMPLATE_ID, body, InfoCodec.putBytes(body, next, "private data", cmData));
    }

    int accept(long correlationId, long endpointId, long requestId, byte[] cmData) {
        AcceptConnectionEncoder encoder = new AcceptConnectionEncoder().wrap(body, 0).correlationId(correlationId)
            .endpointId(endpointId).requestId(requestId).putCmData(cmData, 0, cmData.length);
        return proxy.submit(AcceptConnectionEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    int reject(long correlationId, long requestId, byte[] cmData) {
        RejectConnectionEncoder encoder = new RejectConnectionEncoder().wrap(body, 0).correlationId(correlationId)
            .requestId(requestId).putCmData(cmData, 0, cmData.length);
        return proxy.submit(RejectConnectionEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    int join(long correlationId, long endpointId, long flags, String address) {
        new JoinGroupEncoder().wrap(body, 0).correlationId(correlationId).endpointId(endpointId).flags(flags);
        return proxy.submit(JoinGroupEncoder.TEMPLATE_ID, body,
            InfoCodec.putText(body, JoinGroupEncoder.BLOCK_LENGTH, "address", address));
    }

    int leave(long correlationId, long endpointId, long fiAddr) {
        LeaveGroupEncoder encoder = new LeaveGroupEncoder().wrap(body, 0).correlationId(correlationId)
            .endpointId(endpointId).fiAddr(fiAddr);
        return proxy.submit(LeaveGroupEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    int shutdown(long correlationId, long endpointId) {
        ShutdownEndpointEncoder encoder = new ShutdownEndpointEncoder().wrap(body, 0).correlationId(correlationId)
            .endpointId(endpointId);
        return proxy.submit(ShutdownEndpointEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    int path(long correlationId, long endpointId, long fiAddr) {
        new ExplainPathEncoder().wrap(body, 0).correlationId(correlationId).endpointId(endpointId).fiAddr(fiAddr);
        return proxy.submit(ExplainPathEncoder.TEMPLATE_ID, body, ExplainPathEncoder.BLOCK_LENGTH);
    }
}
