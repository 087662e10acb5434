package org.jfabric.perf.compare;

import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.Info;

/** A driver in mode INVOKER with one endpoint and its queue. Owner: one thread. */
final class InvokedEndpoint implements AutoCloseable {
    final Domain domain;
    final CompletionQueue queue;
    /** To be bound to the queue. */
    final Endpoint endpoint;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final AddressVector addresses;

    /**
     * Starts the driver.
     *
     * @param config with the directory.
     * @param size   of either of the endpoint's queues.
     */
    InvokedEndpoint(DriverConfig.Builder config, Info hints, int size) {
        driver = FabricDriver.launchEmbedded(config.threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
        hints.txAttr().size(size);
        hints.rxAttr().size(size);
        domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2L * size));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(addresses);
    }

    /** Enables the endpoint and publishes its name. */
    void enable(String service) {
        endpoint.enable();
        endpoint.publish(service);
    }

    /** The address of an endpoint that another driver has published. */
    long peer(String driverName, String service) {
        return addresses.insertService(driverName, service);
    }

    @Override
    public void close() {
        try {
            fabric.close();
        } finally {
            driver.close();
        }
    }
}
