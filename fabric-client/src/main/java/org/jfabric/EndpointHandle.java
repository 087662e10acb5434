package org.jfabric;

import org.jfabric.info.EndpointSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;

/**
 * Checks the object for which an active endpoint is opened: {@link Info#handle()}. Control path, under the fabric's
 * lock.
 */
final class EndpointHandle {
    private EndpointHandle() {
    }

    /**
     * Checks the handle of an info, and takes over the passive endpoint that it names.
     *
     * @param wanted a copy of what the application gave; its source address becomes that of the handle.
     * @param fabric of the endpoint.
     * @throws FabricException as {@link Domain#openEndpoint(Info, long)}.
     */
    static void take(Info wanted, Fabric fabric) {
        EndpointSource handle = wanted.handle();
        if (handle == null) {
            return;
        }
        if (!wanted.connects()) {
            throw new FabricException(FabricErrno.EINVAL, "the handle is " + handle + ", but ep_attr.type is "
                + wanted.epAttr().type(), "Ask for EndpointType.MSG, or set no handle.");
        }
        switch (handle) {
            case ConnectionRequest request when request.passive().fabric() == fabric -> {
                request.requireWaiting();
                wanted.srcAddr(request.localAddress());
            }
            case PassiveEndpoint passive when passive.fabric() == fabric -> {
                wanted.srcAddr(passive.name());
                passive.takeOver();
            }
            default -> throw new FabricException(FabricErrno.EINVAL, "the handle is " + handle + ", needed is a"
                + " connection request or a passive endpoint of the same fabric",
                "Open with the info of a CONNREQ event, or set a passive endpoint as handle.");
        }
    }
}
