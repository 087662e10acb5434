package org.jfabric.driver.conductor;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.SendRequestDecoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.SlabMemory;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.SlabDescriptor;

/**
 * The memory that an endpoint shares with its client: two queues, except of a client that embeds the driver, and the
 * slab of buffered receives. Owner: conductor; the resource thread creates the files while the conductor waits for it.
 */
final class EndpointFiles {
    private final ConductorContext context;
    private final long clientId;
    private SharedFile transmit;
    private SharedFile receive;
    private SharedFile slab;
    private int transmitLength;
    private int receiveLength;

    EndpointFiles(ConductorContext context, ClientSession session) {
        this.context = context;
        this.clientId = session.id();
    }

    /** Creates the queues. Resource thread. */
    void makeQueues(EndpointSettings settings) {
        DriverConfig config = context.config();
        transmitLength = Math.toIntExact(Sizing.tqLengthBytes(config, settings.txSize(), settings.injectSizeBytes()));
        receiveLength = Math.toIntExact(Sizing.rqLengthBytes(config, settings.rxSize()));
        transmit = queue(FileType.TRANSMIT_QUEUE, transmitLength);
        receive = queue(FileType.RECEIVE_QUEUE, receiveLength);
        long sampling = context.config().get(MetricsConfig.STAGE_SAMPLING);
        UnsafeApi.putLong(transmit.address() + RecordRingDescriptor.STAMP_DISTANCE_OFFSET,
            sampling * RecordRingDescriptor.RECORD_ALIGNMENT);
    }

    /** Creates the slab and returns its place. Resource thread. */
    SlabMemory makeSlab(SlabMemory wanted) {
        int cells = wanted.cells();
        int cellBytes = wanted.cellBytes();
        slab = context.files().create(
            clientId, context.files().nextNumber(), FileType.SLAB, 0,
            SlabDescriptor.fileLength(cells, cellBytes), (long) cells * cellBytes, cells, cellBytes);
        return new SlabMemory(slab.address(), cells, cellBytes, wanted.limitBytes(), wanted.leastBytes(),
            wanted.lentLimitBytes());
    }

    private SharedFile queue(FileType type, int ringLength) {
        return context.files().create(
            clientId,
            context.files().nextNumber(),
            type,
            SendRequestDecoder.SCHEMA_ID,
            RecordRingDescriptor.HEADER_LENGTH + (long) ringLength,
            ringLength,
            ringLength,
            0);
    }

    /** The files that were created. */
    List<SharedFile> all() {
        return Stream.of(transmit, receive, slab).filter(Objects::nonNull).toList();
    }

    /** The {@code .tq} file, or null. */
    SharedFile transmit() {
        return transmit;
    }

    /** The {@code .rq} file, or null. */
    SharedFile receive() {
        return receive;
    }

    /** Number of the {@code .tq} file, 0 if there is none. */
    long transmitNumber() {
        return number(transmit);
    }

    /** Number of the {@code .rq} file, 0 if there is none. */
    long receiveNumber() {
        return number(receive);
    }

    /** Number of the {@code .slab} file, 0 if there is none. */
    long slabNumber() {
        return number(slab);
    }

    /** Bytes of the transmit ring, 0 if there is none. */
    int transmitLength() {
        return transmitLength;
    }

    /** Bytes of the receive ring, 0 if there is none. */
    int receiveLength() {
        return receiveLength;
    }

    private static long number(SharedFile file) {
        return file == null ? 0 : file.number();
    }
}
