package org.jfabric.driver.conductor;

import org.jfabric.EndpointType;
import org.jfabric.Info;

/**
 * What a client asks for when it enables an endpoint.
 *
 * @param correlationId    comes back in the answer.
 * @param endpointContext  context given at open.
 * @param txCqId           completion queue for sends, or 0.
 * @param txCqFlags        flags of its binding.
 * @param rxCqId           completion queue for receives, or 0.
 * @param rxCqFlags        flags of its binding.
 * @param sendCounterId    counter of sends, or 0.
 * @param receiveCounterId counter of receives, or 0.
 * @param avId             address vector.
 * @param eventQueueId     event queue, or 0.
 * @param bufferedLimit    longest message that is shown whole, with mode FI_BUFFERED_RECV.
 * @param bufferedMin      bytes shown of a longer one.
 * @param requestId        connection request that it will accept, or 0.
 * @param passiveId        passive endpoint whose name it takes over, or 0.
 * @param hints            attributes.
 * @param endpointName     name for its address, or empty.
 * @param service          name to be published, or empty.
 */
public record EndpointRequest(
    long correlationId,
    long endpointContext,
    long txCqId,
    long txCqFlags,
    long rxCqId,
    long rxCqFlags,
    long sendCounterId,
    long receiveCounterId,
    long avId,
    long eventQueueId,
    int bufferedLimit,
    int bufferedMin,
    long requestId,
    long passiveId,
    Info hints,
    String endpointName,
    String service) {

    /**
     * Whether it asks for a connection-oriented endpoint.
     *
     * @return true with type FI_EP_MSG.
     */
    public boolean connects() {
        return hints.epAttr().type() == EndpointType.MSG;
    }

    /**
     * Whether a link may be used.
     *
     * @param linkName name of the link.
     * @return true if the request names this link or none.
     */
    public boolean wants(String linkName) {
        String wanted = hints.linkName();
        return wanted == null || wanted.isEmpty() || wanted.equals(linkName);
    }
}
