package org.jfabric.driver.conductor;

import org.jfabric.codec.control.CounterReady;
import org.jfabric.codec.control.OpenCounter;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.WaitPoint;
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

    private final OpenCounter message;
    private final long id;
    private final RequestedWait wait;
    private State state = State.CHECK;
    private SharedFile file;
    private CounterWriter[] writers;

    OpenCounterCommand(CommandRequest request, OpenCounter message) {
        super(request);
        this.message = message;
        wait = new RequestedWait(session(), message.waitObj(), message.waitSetId());
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
                return answer(new CounterReady(
                    correlationId(), id, file.number(), WaitResource.token(wait.waitResource())));
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
                file.address(), points[thread], message.events() == CounterEvents.BYTES.code());
            if (threads > 1) {
                writers[thread].shareCount();
            }
        }
    }

    private void check() {
        if (message.flags() != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "a counter with flags 0x" + Long.toHexString(message.flags()), "No flags are defined, use 0.");
        }
        CounterEvents.of(message.events());
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
