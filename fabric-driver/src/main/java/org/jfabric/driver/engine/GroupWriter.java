package org.jfabric.driver.engine;

import org.jfabric.client.GroupPort;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;

/**
 * The way of a group's writer into its ring, past the sends with their entries and credit. Messages that the endpoint
 * has sent before and that wait go first. Owner: progress agent.
 */
final class GroupWriter extends GroupPort {
    private final EngineEndpoint endpoint;
    private final PeerSends group;

    GroupWriter(EngineEndpoint endpoint, PeerSends group) {
        this.endpoint = endpoint;
        this.group = group;
    }

    @Override
    public boolean hasRoom(int length) {
        return group.isClear() && group.channel().hasRoom(length);
    }

    @Override
    public int offer(byte[] array, long address, int length) {
        if (!group.isClear()) {
            return group.isUp() ? -FabricErrno.EAGAIN : -FabricErrno.ENOTCONN;
        }
        Channel way = group.channel();
        try {
            int result = way.offer(array, address, length);
            FaultPoint.pass();
            return result;
        } catch (InternalError fault) {
            endpoint.fault(fault);
            return -FabricErrno.EFAULT;
        }
    }
}
