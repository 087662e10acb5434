package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenCounterDecoder;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.engine.WaitPoint;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.CounterEvents;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.FileType;

/** {@code fi_cntr_open}: creates the file, then passes it to the engine. Owner: conductor. */
final class OpenCounterCommand extends Command {
    private enum State {
        CHECK,
        MADE,
        SERVED
    }

    private final long flags;
    private final int eventsCode;
    private final long id;
    private final RequestedWait wait;
    private State state = State.CHECK;
    private SharedFile file;
    private CounterWriter[] writers;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    OpenCounterCommand(CommandRequest request) {
        super(request);
        OpenCounterDecoder decoder = new OpenCounterDecoder().wrap(
            request.body(), 0, OpenCounterDecoder.BLOCK_LENGTH, OpenCounterDecoder.SCHEMA_VERSION);
        flags = decoder.flags();
        eventsCode = decoder.eventsRaw();
        wait = new RequestedWait(session(), decoder.waitObjRaw(), decoder.waitSetId());
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                state = State.MADE;
                background(this::make);
            }
            case MADE -> {
                makeWriters();
                state = State.SERVED;
                onThreads(thread -> context().threads().get(thread).agent().addCounter(
                    session().progress(thread), id, writers[thread]));
            }
            default -> {
                CounterResource counter = new CounterResource(id, file, writers, wait.waitResource(), wait.waitSet());
                session().counters().put(id, counter);
                context().counters().add(SystemCounter.COUNTERS, 1);
                session().proxy().counterReady(correlationId(), counter);
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        wait.undo();
        if (file != null) {
            file.delete();
            SharedFile unused = file;
            afterwards(unused::unmap);
        }
    }

    private void makeWriters() {
        int threads = context().threads().count();
        WaitPoint[] points = wait.points(threads, file.address() + CounterDescriptor.WAIT_OFFSET);
        writers = new CounterWriter[threads];
        for (int thread = 0; thread < threads; thread++) {
            writers[thread] = new CounterWriter(
                file.address(), points[thread], eventsCode == CounterEvents.BYTES.code());
            if (threads > 1) {
                writers[thread].shareCount();
            }
        }
    }

    private void check() {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "a counter with flags 0x" + Long.toHexString(flags), "No flags are defined, use 0.");
        }
        CounterEvents.of(eventsCode);
        wait.check("counter");
        wait.bind();
    }

    private void make() {
        file = context().files().create(
            session().id(),
            context().files().nextNumber(),
            FileType.COUNTER,
            0,
            CounterDescriptor.FILE_LENGTH,
            CounterDescriptor.FILE_LENGTH - CounterDescriptor.ADDED_OFFSET,
            0,
            0);
    }
}
