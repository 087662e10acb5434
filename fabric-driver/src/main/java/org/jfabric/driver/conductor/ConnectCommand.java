package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ConnectEndpointDecoder;
import org.jfabric.driver.link.support.HostNames;

/**
 * {@code fi_connect}: resolves the peer's host if it has a name, then begins the connection. The result is an event.
 * Owner: conductor.
 */
final class ConnectCommand extends Command {
    private enum State {
        RESOLVE,
        CONNECT,
        BEGUN
    }

    private final long endpointId;
    private final byte[] cmData;
    private State state = State.RESOLVE;
    private String address;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    ConnectCommand(CommandRequest request) {
        super(request);
        ConnectEndpointDecoder decoder = new ConnectEndpointDecoder().wrap(
            request.body(), 0, ConnectEndpointDecoder.BLOCK_LENGTH, ConnectEndpointDecoder.SCHEMA_VERSION);
        endpointId = decoder.endpointId();
        address = decoder.address();
        cmData = new byte[decoder.cmDataLength()];
        decoder.getCmData(cmData, 0, cmData.length);
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case RESOLVE -> {
                session().requireEndpoint(endpointId);
                InsertAddressCommand.requireIfOurs(address);
                state = State.CONNECT;
                if (HostNames.isHost(address)) {
                    background(() -> address = HostNames.resolve(address).toString());
                }
            }
            case CONNECT -> {
                // it may have been closed meanwhile
                EndpointResource endpoint = session().requireEndpoint(endpointId);
                state = State.BEGUN;
                onThread(endpoint.thread(), () -> endpoint.endpoint().connect(address, cmData));
            }
            default -> {
                session().proxy().done(correlationId());
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }
}
