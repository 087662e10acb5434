package org.jfabric.driver.conductor;

import org.agrona.DirectBuffer;
import org.jfabric.codec.control.AcceptConnectionDecoder;
import org.jfabric.codec.control.ConnectEndpointDecoder;
import org.jfabric.codec.control.ExplainPathDecoder;
import org.jfabric.codec.control.JoinGroupDecoder;
import org.jfabric.codec.control.LeaveGroupDecoder;
import org.jfabric.codec.control.ListenDecoder;
import org.jfabric.codec.control.NamePassiveEndpointDecoder;
import org.jfabric.codec.control.OpenPassiveEndpointDecoder;
import org.jfabric.codec.control.RejectConnectionDecoder;
import org.jfabric.codec.control.ShutdownEndpointDecoder;

/** Decodes the commands of connections, whose lengths were checked. Owner: conductor. */
final class ConnectionCommandAdapter {
    private static final int VERSION = 0;

    private final DriverConductor conductor;
    private final DirectBuffer body;
    private final OpenPassiveEndpointDecoder open = new OpenPassiveEndpointDecoder();
    private final NamePassiveEndpointDecoder name = new NamePassiveEndpointDecoder();
    private final ListenDecoder listen = new ListenDecoder();
    private final ConnectEndpointDecoder connect = new ConnectEndpointDecoder();
    private final AcceptConnectionDecoder accept = new AcceptConnectionDecoder();
    private final RejectConnectionDecoder reject = new RejectConnectionDecoder();
    private final ShutdownEndpointDecoder shutdown = new ShutdownEndpointDecoder();
    private final JoinGroupDecoder join = new JoinGroupDecoder();
    private final LeaveGroupDecoder leave = new LeaveGroupDecoder();
    private final ExplainPathDecoder path = new ExplainPathDecoder();

    /** Decodes what lies in private memory, from its start. */
    ConnectionCommandAdapter(DriverConductor conductor, DirectBuffer body) {
        this.conductor = conductor;
        this.body = body;
    }

    /** Length of a command's block; 0 if it is none of these. */
    static int blockLength(int type) {
        return switch (type) {
            case OpenPassiveEndpointDecoder.TEMPLATE_ID -> OpenPassiveEndpointDecoder.BLOCK_LENGTH;
            case NamePassiveEndpointDecoder.TEMPLATE_ID -> NamePassiveEndpointDecoder.BLOCK_LENGTH;
            case ListenDecoder.TEMPLATE_ID -> ListenDecoder.BLOCK_LENGTH;
            case ConnectEndpointDecoder.TEMPLATE_ID -> ConnectEndpointDecoder.BLOCK_LENGTH;
            case AcceptConnectionDecoder.TEMPLATE_ID -> AcceptConnectionDecoder.BLOCK_LENGTH;
            case RejectConnectionDecoder.TEMPLATE_ID -> RejectConnectionDecoder.BLOCK_LENGTH;
            case ShutdownEndpointDecoder.TEMPLATE_ID -> ShutdownEndpointDecoder.BLOCK_LENGTH;
            case JoinGroupDecoder.TEMPLATE_ID -> JoinGroupDecoder.BLOCK_LENGTH;
            case LeaveGroupDecoder.TEMPLATE_ID -> LeaveGroupDecoder.BLOCK_LENGTH;
            case ExplainPathDecoder.TEMPLATE_ID -> ExplainPathDecoder.BLOCK_LENGTH;
            default -> 0;
        };
    }

    /** Fields of variable length behind the block. */
    static int texts(int type) {
        return switch (type) {
            case OpenPassiveEndpointDecoder.TEMPLATE_ID -> 3;
            case ConnectEndpointDecoder.TEMPLATE_ID -> 2;
            case NamePassiveEndpointDecoder.TEMPLATE_ID, AcceptConnectionDecoder.TEMPLATE_ID,
                RejectConnectionDecoder.TEMPLATE_ID, JoinGroupDecoder.TEMPLATE_ID -> 1;
            default -> 0;
        };
    }

    void decode(ClientSession session, int type) {
        switch (type) {
            case OpenPassiveEndpointDecoder.TEMPLATE_ID -> onOpen(session);
            case NamePassiveEndpointDecoder.TEMPLATE_ID -> {
                name.wrap(body, 0, NamePassiveEndpointDecoder.BLOCK_LENGTH, VERSION);
                conductor.onNamePassiveEndpoint(session, name.correlationId(), name.passiveId(), name.address());
            }
            case ListenDecoder.TEMPLATE_ID -> {
                listen.wrap(body, 0, ListenDecoder.BLOCK_LENGTH, VERSION);
                conductor.onListen(session, listen.correlationId(), listen.passiveId(), listen.backlog());
            }
            case ConnectEndpointDecoder.TEMPLATE_ID -> {
                connect.wrap(body, 0, ConnectEndpointDecoder.BLOCK_LENGTH, VERSION);
                String address = connect.address();
                byte[] cmData = new byte[connect.cmDataLength()];
                connect.getCmData(cmData, 0, cmData.length);
                conductor.onConnect(session, connect.correlationId(), connect.endpointId(), address, cmData);
            }
            case AcceptConnectionDecoder.TEMPLATE_ID -> {
                accept.wrap(body, 0, AcceptConnectionDecoder.BLOCK_LENGTH, VERSION);
                byte[] cmData = new byte[accept.cmDataLength()];
                accept.getCmData(cmData, 0, cmData.length);
                conductor.onAccept(session, accept.correlationId(), accept.endpointId(), accept.requestId(), cmData);
            }
            case RejectConnectionDecoder.TEMPLATE_ID -> {
                reject.wrap(body, 0, RejectConnectionDecoder.BLOCK_LENGTH, VERSION);
                byte[] cmData = new byte[reject.cmDataLength()];
                reject.getCmData(cmData, 0, cmData.length);
                conductor.onReject(session, reject.correlationId(), reject.requestId(), cmData);
            }
            case ShutdownEndpointDecoder.TEMPLATE_ID -> {
                shutdown.wrap(body, 0, ShutdownEndpointDecoder.BLOCK_LENGTH, VERSION);
                conductor.onShutdown(session, shutdown.correlationId(), shutdown.endpointId());
            }
            case JoinGroupDecoder.TEMPLATE_ID -> {
                join.wrap(body, 0, JoinGroupDecoder.BLOCK_LENGTH, VERSION);
                conductor.onJoin(session, join.correlationId(), join.endpointId(), join.flags(), join.address());
            }
            case LeaveGroupDecoder.TEMPLATE_ID -> {
                leave.wrap(body, 0, LeaveGroupDecoder.BLOCK_LENGTH, VERSION);
                conductor.onLeave(session, leave.correlationId(), leave.endpointId(), leave.fiAddr());
            }
            case ExplainPathDecoder.TEMPLATE_ID -> {
                path.wrap(body, 0, ExplainPathDecoder.BLOCK_LENGTH, VERSION);
                conductor.onExplainPath(session, path.correlationId(), path.endpointId(), path.fiAddr());
            }
            default -> throw new IllegalStateException("template " + type + " was checked");
        }
    }

    private void onOpen(ClientSession session) {
        open.wrap(body, 0, OpenPassiveEndpointDecoder.BLOCK_LENGTH, VERSION);
        String address = open.address();
        String linkName = open.linkName();
        byte[] authKey = new byte[open.authKeyLength()];
        open.getAuthKey(authKey, 0, authKey.length);
        conductor.onOpenPassiveEndpoint(session, open.correlationId(), address, linkName, authKey);
    }
}
