package org.jfabric.samples;

import org.jfabric.AddressVector;
import org.jfabric.AddressVectorAttr;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.CompletionQueueAttr;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.MemoryRegion;
import org.jfabric.ResourceManagement;

/**
 * What every sample opens: an endpoint with one completion queue, an address vector and a page of registered memory.
 * {@link org.jfabric.samples.hello.HelloFabric} shows the calls in a row.
 *
 * @param endpoint  enabled.
 * @param queue     of both directions.
 * @param addresses to insert peers into.
 * @param memory    4,096 bytes.
 */
public record SampleEndpoint(
    Endpoint endpoint, CompletionQueue queue, AddressVector addresses, MemoryRegion memory) {

    /**
     * Opens all of it; closing the fabric closes it.
     *
     * @param fabric connected to a driver.
     * @return an enabled endpoint.
     */
    public static SampleEndpoint open(Fabric fabric) {
        Info hints = new Info().caps(Flags.TAGGED);
        // the default, and worth asking for wherever messages may come before their receives: senders then wait
        hints.domainAttr().resourceManagement(ResourceManagement.ENABLED);
        Domain domain = fabric.domain(fabric.info(hints).best());
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
        AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
        MemoryRegion memory = domain.allocate(4096);
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        return new SampleEndpoint(endpoint, queue, addresses, memory);
    }

    /**
     * Waits for entries.
     *
     * @param count   how many.
     * @param handler shown each of them.
     * @throws FabricException if one of the transfers has failed; {@link org.jfabric.samples.errors.CompletionErrors}
     *     shows how to learn more.
     */
    public void await(int count, CompletionHandler handler) {
        for (int seen = 0; seen < count;) {
            int result = queue.poll(handler, count - seen);
            if (result > 0) {
                seen += result;
            } else if (result == -FabricErrno.EAGAIN) {
                Thread.onSpinWait();
            } else if (result == -FabricErrno.EAVAIL) {
                CompletionError error = new CompletionError();
                queue.readErr(error, 0);
                throw new FabricException(error.err(), "a transfer failed after " + seen + " of " + count,
                    "If the other side does not run yet, start it first.");
            } else {
                throw new FabricException(result, "a transfer failed after " + seen + " of " + count);
            }
        }
    }
}
