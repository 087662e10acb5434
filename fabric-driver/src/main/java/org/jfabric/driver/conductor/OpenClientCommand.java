package org.jfabric.driver.conductor;

import org.jfabric.codec.control.ClientHelloDecoder;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.engine.EngineSession;
import org.jfabric.driver.engine.SessionListener;
import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.progress.ProgressClient;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

import java.util.Arrays;

/** Creates the control file of a client whose hello was accepted. Owner: conductor. */
final class OpenClientCommand extends Command {
    private enum State {
        BEGIN,
        MADE,
        SERVED
    }

    private final long clientId;
    private final String name;
    private final int fd;
    private final Runnable doorbell;
    private final SessionListener listener;
    private final OpenedClient opened;
    private final int ringLength;
    private State state = State.BEGIN;
    private SharedFile file;
    private ProgressClient[] progress;

    /**
     * A client to be opened.
     *
     * @param fd       its socket, or {@link ClientSession#EMBEDDED}.
     * @param doorbell rung after each event.
     */
    OpenClientCommand(
        ConductorContext context,
        Registry registry,
        String name,
        int fd,
        Runnable doorbell,
        SessionListener listener,
        OpenedClient opened) {
        super(context, registry, null);
        this.clientId = registry.nextId();
        this.name = name;
        this.fd = fd;
        this.doorbell = doorbell;
        this.listener = listener;
        this.opened = opened;
        this.ringLength = context.config().get(QueueConfig.CTL_RING_BYTES);
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case BEGIN -> {
                state = State.MADE;
                background(this::make);
            }
            case MADE -> {
                state = State.SERVED;
                progress = new ProgressClient[context().threads().count()];
                Arrays.setAll(progress, thread -> new ProgressClient(
                    new EngineSession(clientId, listener),
                    file.address() + ControlFileDescriptor.activityOffset(ringLength, ringLength)));
                long pid = ClientSession.pid(fd);
                onThreads(thread -> {
                    ProgressAgent agent = context().threads().get(thread).agent();
                    agent.addClient(progress[thread]);
                    if (thread == 0) {
                        agent.showClient(progress[thread], name, pid);
                    }
                });
            }
            default -> {
                context().counters().add(SystemCounter.CLIENTS, 1);
                opened.onOpened(session(file.address()));
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (file != null) {
            file.delete();
            SharedFile unused = file;
            afterwards(unused::unmap);
        }
    }

    @Override
    protected void onRefused(Throwable cause) {
        opened.onRefused(errno(cause), cause.getMessage());
    }

    private ClientSession session(long address) {
        long events = address + ControlFileDescriptor.eventRingOffset(ringLength);
        RecordConsumer commands = new RecordConsumer(
            address + RecordRingDescriptor.HEADER_LENGTH,
            ringLength,
            address + RecordRingDescriptor.CONSUMER_POSITION_OFFSET,
            ClientCommandAdapter.MAX_TYPE);
        RecordProducer producer = new RecordProducer(
            events + RecordRingDescriptor.HEADER_LENGTH,
            ringLength,
            events + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
        return new ClientSession(
            clientId, name, fd, file, ringLength, commands, new ClientProxy(producer, doorbell), progress);
    }

    private void make() {
        file = context().files().create(
            clientId,
            context().files().nextNumber(),
            FileType.CONTROL,
            ClientHelloDecoder.SCHEMA_ID,
            ControlFileDescriptor.fileLength(ringLength, ringLength),
            ringLength,
            ringLength,
            ringLength);
    }
}
