package org.jfabric.driver.soak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.ScalableEndpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.driver.kit.ScalableSide;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;

/**
 * Where the messages of a {@link ContextWorld} go: several endpoints with one shared receive context, or one scalable
 * endpoint with several receive contexts. Each place that a message can name has a completion queue.
 */
final class ContextTarget implements AutoCloseable {
    static final int RECEIVES = 24;
    /** Small, so that places wait for slots. */
    private static final int QUEUE = 16;

    final boolean isShared;
    final Domain domain;
    final AddressVector peers;
    final MemoryRegion memory;
    /** Where receives are posted: the shared context, or each receive context. */
    final List<Endpoint> contexts = new ArrayList<>();
    /** By the place that a message names. */
    final List<QueueReader> queues = new ArrayList<>();
    /** For a sender: the names of endpoints, or that of the scalable endpoint. */
    final List<String> names = new ArrayList<>();
    private final Fabric fabric;

    private ContextTarget(boolean isShared, Path directory, String link, Info hints, int bits) {
        this.isShared = isShared;
        fabric = Fabric.connect(new FabricConfig().directory(directory));
        domain = fabric.domain(fabric.info(hints.linkName(link)).best());
        peers = domain.openAddressVector(new AddressVectorAttr().rxCtxBits(bits));
        memory = domain.allocate((long) ContextWorld.SLOT * (RECEIVES + 1) * (isShared ? 1 : ContextWorld.PLACES));
    }

    static ContextTarget shared(Path directory, String link) {
        ContextTarget target = new ContextTarget(true, directory, link, ContextWorld.hints(), 0);
        Info info = target.domain.info().copy();
        Endpoint context = target.domain.openSharedReceiveContext(new RxAttr().size(RECEIVES), 0);
        target.contexts.add(context);
        info.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
        info.rxAttr().size(RECEIVES);
        for (int i = 0; i < ContextWorld.PLACES; i++) {
            Endpoint endpoint = target.domain.openEndpoint(info);
            endpoint.bind(target.queue(), Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(target.peers);
            endpoint.bind(context, 0);
            endpoint.enable();
            target.names.add(endpoint.name());
        }
        return target;
    }

    static ContextTarget scalable(Path directory, String link) {
        ContextTarget target = new ContextTarget(false, directory, link, ScalableSide.hints(), ScalableSide.BITS);
        Info info = target.domain.info().copy();
        info.epAttr().txCtxCnt(1).rxCtxCnt(ContextWorld.PLACES);
        info.rxAttr().size(RECEIVES);
        ScalableEndpoint scalable = target.domain.openScalableEndpoint(info);
        scalable.bind(target.peers);
        scalable.enable();
        target.names.add(scalable.name());
        for (int i = 0; i < ContextWorld.PLACES; i++) {
            target.contexts.add(ScalableSide.enabled(scalable.rxContext(i), target.queue(), Flags.RECV));
        }
        return target;
    }

    private CompletionQueue queue() {
        QueueReader reader = new QueueReader(domain.openCompletionQueue(new CompletionQueueAttr()
            .size(isShared ? QUEUE : 2 * RECEIVES).format(CompletionFormat.TAGGED)), () -> { });
        queues.add(reader);
        return reader.cq();
    }

    /** Lets the driver take what was posted. */
    void awaitSteps() {
        for (int i = 0; i < 8; i++) {
            FabricNode.awaitStep(domain);
        }
    }

    @Override
    public void close() {
        fabric.close();
    }
}
