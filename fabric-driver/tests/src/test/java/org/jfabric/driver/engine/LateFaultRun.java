package org.jfabric.driver.engine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.engine.late.LateFault;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.StepServices;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;

/** Two clients of one driver, one message, one {@link LateFault}: what each of them sees. In a loader of its own. */
public final class LateFaultRun {
    private static final int MEMORY = 1 << 17;
    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final int CYCLES = 6;

    private final List<Throwable> errors = new ArrayList<>();
    private final Engine engine;
    private final Client sender;
    private final Client receiver;
    private final long toReceiver;
    /** Calls behind which another fault is raised while the receiver is ended for the first; negative for none. */
    private final int callsOfSecond;
    private boolean ending;
    /** Ended because of the fault, before what was in hand is ended; null for none. */
    private Client toEnd;

    private LateFaultRun(int callsOfSecond, boolean isStrict) {
        this.callsOfSecond = callsOfSecond;
        Link link = new LoopbackLinkProvider().open(
            new StepServices(new Script(1)), DriverConfig.builder().directory(Path.of("/tmp/rig")).build());
        engine = new Engine(new EngineSettings(1 << 20, 1 << 14, 4, 4), List.of(link), errors::add);
        sender = new Client("sender", isStrict);
        receiver = new Client("receiver", isStrict);
        toReceiver = sender.addresses.insert(receiver.endpoint.settings().address());
    }

    private final class Client {
        final CompletionReader completions = new CompletionReader(256);
        final AddressTable addresses = new AddressTable();
        final long memory = UnsafeApi.allocateMemory(MEMORY);
        final EngineSession session = new EngineSession(7, new Silent());
        final EngineEndpoint endpoint;
        final long buf;
        /** The files of a triggering and a completion counter. */
        final long counters = UnsafeApi.allocateMemory(2 * CounterDescriptor.FILE_LENGTH);

        Client(String name, boolean isStrict) {
            RegisteredRegion region = new RegisteredRegion(1, 0x1_0000_0042L, memory, MEMORY, () -> { });
            buf = MemoryRegionDescriptor.address(session.regions().add(region), 0x42, 0);
            engine.addCompletionQueue(completions.writer);
            UnsafeApi.setMemory(counters, 2 * CounterDescriptor.FILE_LENGTH, (byte) 0);
            for (int i = 0; i < 2; i++) {
                CounterWriter counter = new CounterWriter(counters + i * CounterDescriptor.FILE_LENGTH, null, false);
                engine.addCounter(counter);
                session.work().add(1 + i, counter);
            }
            endpoint = engine.addEndpoint(
                session, new EndpointSettings(
                    3, name, "jfabric://rig/" + name, 0, 16, 16, 64, MEMORY,
                    Flags.SOURCE | Flags.TRIGGER, 8192, false, new byte[0])
                    .strict(isStrict, isStrict),
                List.of(LoopbackLinkProvider.NAME), addresses, completions.writer, completions.writer);
        }

        /** Empty if there is exactly one entry; a receive may have to be cancelled for it. */
        String wrongEntries(long context) {
            List<CompletionReader.Entry> entries = completions.takeAll();
            if (entries.isEmpty()) {
                endpoint.cancel(context);
                entries = completions.takeAll();
            }
            return entries.size() == 1 && entries.getFirst().context() == context ? ""
                : endpoint.settings().address() + " has " + entries + " instead of one entry of " + context + "; ";
        }

        void receive(int length, long context) {
            endpoint.receive(KIND, buf, length, -1, 5, 0, context);
        }

        /** Empty if there is exactly one entry for each; receives may have to be cancelled for it. */
        String wrongEntries(List<Long> contexts) {
            List<CompletionReader.Entry> entries = new ArrayList<>(completions.takeAll());
            contexts.forEach(endpoint::cancel);
            entries.addAll(completions.takeAll());
            List<Long> seen = entries.stream().map(CompletionReader.Entry::context).sorted().toList();
            return seen.equals(contexts) ? ""
                : endpoint.settings().address() + " has " + entries + " instead of one of each of " + contexts + "; ";
        }

        /** Deferred work that starts when {@link #trigger()} is called. */
        void defer(int kind, int length, long peer, long context) {
            WorkRequest request = new WorkRequest();
            request.begin(kind);
            request.isTriggered = true;
            request.counterId = 1;
            request.threshold = 1;
            request.completionId = 2;
            request.workId = context;
            request.flags = KIND;
            request.pieces[0] = buf;
            request.pieces[1] = length;
            request.count = 1;
            request.address = peer;
            request.tag = 5;
            request.context = context;
            endpoint.post(request);
        }

        void trigger() {
            UnsafeApi.putLong(counters + CounterDescriptor.ADDED_OFFSET, 1);
        }

        /** Empty if so much deferred work has ended. */
        String wrongCount(long expected) {
            long done = counters + CounterDescriptor.FILE_LENGTH;
            long ended = UnsafeApi.getLong(done + CounterDescriptor.COUNTED_OFFSET)
                + UnsafeApi.getLong(done + CounterDescriptor.COUNTED_ERRORS_OFFSET);
            return ended == expected ? "" : endpoint.settings().address() + " has counted " + ended + " of "
                + expected + "; ";
        }

        void free() {
            UnsafeApi.freeMemory(counters);
            completions.free();
            UnsafeApi.freeMemory(memory);
        }
    }

    private static final class Silent extends SessionListener {
        @Override
        public void onCorruption(long clientId, String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void onCompletionQueueOverrun(long clientId, long cqId) {
            throw new AssertionError("completion queue " + cqId + " overran");
        }

        @Override
        public void onPeerDown(long clientId, long endpointId, long fiAddr, int errno, int provErrno, String peer) {
        }
    }

    /** Nobody's file is cut: both clients go on, and each has one entry for the message. */
    public static String exchange(long level, boolean receivesFirst, int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        LateFault.arm(calls);
        wrong += run.deliver(level, receivesFirst, length, 2);
        String place = LateFault.place();
        // and nothing is left of it
        wrong += run.deliver(level, true, length, 3);
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** Entries in the order of posting: the one of the message that is in hand waits for that of an older send. */
    public static String exchangeInOrder(int calls) {
        LateFaultRun run = new LateFaultRun(-1, true);
        String wrong = run.connect();
        // announced, and not received before the fault
        run.sender.endpoint.send(
            KIND | Flags.DELIVERY_COMPLETE, run.sender.buf, 100_000, run.toReceiver, 6, 0, 2);
        run.cycles();
        LateFault.arm(calls);
        run.receiver.receive(8, 3);
        run.sender.endpoint.send(KIND | Flags.DELIVERY_COMPLETE, run.sender.buf, 8, run.toReceiver, 5, 0, 3);
        run.cycles();
        String place = LateFault.place();
        LateFault.disarm();
        wrong += run.receiver.wrongEntries(3);
        run.receiver.endpoint.receive(KIND, run.receiver.buf, 100_000, -1, 6, 0, 4);
        run.cycles();
        wrong += run.receiver.wrongEntries(4);
        List<Long> ended = run.sender.completions.takeAll().stream().map(CompletionReader.Entry::context).toList();
        wrong += ended.equals(List.of(2L, 3L)) ? "" : "the sends ended in the order " + ended + "; ";
        wrong += run.errors.isEmpty() ? "" : run.errors + "; ";
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** The receiver is ended because of the fault, and meanwhile another one is raised. */
    public static String end(int length, int calls) {
        LateFaultRun run = new LateFaultRun(calls, false);
        run.receiver.endpoint.receive(KIND, run.receiver.buf, length, -1, 5, 0, 1);
        run.sender.endpoint.receive(KIND, run.sender.buf, length, -1, 9, 0, 2);
        LateFault.arm(0);
        run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 3);
        // announced, and not received
        run.sender.endpoint.send(KIND, run.sender.buf, MEMORY, run.toReceiver, 6, 0, 4);
        run.cycles();
        String place = LateFault.place();
        LateFault.disarm();
        run.engine.closeSession(run.receiver.session);
        run.cycles();
        long entries = run.sender.completions.takeAll().stream().map(CompletionReader.Entry::context).distinct()
            .filter(context -> context > 2).count();
        String wrong = (entries == 2 ? "" : entries + " of 2 sends have ended; ") + run.outstanding(run.sender);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** An endpoint sends to itself, so that both operations are in hand, and all entries go to one queue. */
    public static String exchangeWithItself(int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        Client own = run.sender;
        long toItself = own.addresses.insert(own.endpoint.settings().address());
        String wrong = "";
        for (long context = 1; context <= 4; context++) {
            if (context == 3) {
                LateFault.arm(calls);
            }
            own.receive(length, 100 + context);
            own.endpoint.send(KIND, own.buf, length, toItself, 5, 0, context);
            run.cycles();
            LateFault.disarm();
            run.cycles();
            wrong += own.wrongEntries(List.of(context, 100 + context));
        }
        wrong += run.outstanding(own);
        String place = LateFault.place();
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** What both sides do between the fault and the next cycle does not touch what is in hand. */
    public static String exchangeBeforeRecovery(int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        List<Long> contexts = List.of(2L, 3L, 4L);
        for (long context : contexts) {
            run.receiver.receive(length, context);
        }
        LateFault.arm(calls);
        run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 2);
        String place = LateFault.place();
        run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 3);
        // takes the general path
        run.receiver.endpoint.cancel(99);
        run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 4);
        run.cycles();
        LateFault.disarm();
        run.cycles();
        wrong += run.sender.wrongEntries(contexts) + run.receiver.wrongEntries(contexts);
        wrong += run.deliver(0, true, length, 5);
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** The sender is ended because of the fault; the receive in hand ends once, the others can be cancelled. */
    public static String endSender(int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        List<Long> contexts = List.of(2L, 3L, 4L);
        for (long context : contexts) {
            run.receiver.receive(length, context);
        }
        run.toEnd = run.sender;
        LateFault.arm(calls);
        run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 2);
        run.cycles();
        String place = LateFault.place();
        LateFault.disarm();
        run.cycles();
        wrong += run.receiver.wrongEntries(contexts) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** A fault from before a receive is posted, by whoever it is: the receive is posted, or ends with an error. */
    public static String receiveBehindFault(int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        LateFault.fail(calls);
        run.receiver.receive(length, 2);
        String place = LateFault.place();
        LateFault.disarm();
        wrong += run.receiver.endpoint.outstandingReceives() == 1 ? "" : "not posted; ";
        wrong += run.deliver(0, true, length, 3).isEmpty() ? "the first receive did not take the message; " : "";
        run.receiver.endpoint.cancel(3);
        run.receiver.completions.takeAll();
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** A counter starts a send and a receive, one after the other; the copy fails when the later one starts. */
    public static String exchangeTriggered(boolean receivesFirst, int length, int calls) {
        return triggered(receivesFirst, length, () -> LateFault.arm(calls));
    }

    /** The same with a fault from before the later one starts. */
    public static String startBehindFault(boolean receivesFirst, int length, int calls) {
        return triggered(receivesFirst, length, () -> LateFault.fail(calls));
    }

    private static String triggered(boolean receivesFirst, int length, Runnable arm) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        run.sender.defer(WorkRequest.SEND, length, run.toReceiver, 2);
        run.receiver.defer(WorkRequest.RECEIVE, length, -1, 2);
        (receivesFirst ? run.receiver : run.sender).trigger();
        run.cycles();
        arm.run();
        (receivesFirst ? run.sender : run.receiver).trigger();
        run.cycles();
        LateFault.disarm();
        run.cycles();
        wrong += run.sender.wrongEntries(2) + run.receiver.wrongEntries(2);
        run.cycles();
        wrong += run.sender.wrongCount(1) + run.receiver.wrongCount(1);
        wrong += run.deliver(0, true, length, 3);
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        String place = LateFault.place();
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** A flush that a fault interrupts, and another one: each work ends once. */
    public static String flushBehindFault(int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        List<Long> contexts = List.of(2L, 3L, 4L, 5L);
        for (long context : contexts) {
            run.sender.defer(
                context % 2 == 0 ? WorkRequest.SEND : WorkRequest.RECEIVE, 8, run.toReceiver, context);
        }
        LateFault.fail(calls);
        try {
            run.sender.session.work().flush(0, 0);
        } catch (InternalError e) {
            run.engine.fault(e);
        }
        String place = LateFault.place();
        LateFault.disarm();
        run.cycles();
        run.sender.session.work().flush(0, 0);
        run.cycles();
        wrong += run.sender.wrongEntries(contexts) + run.sender.wrongCount(contexts.size());
        wrong += run.deliver(0, true, 8, 6);
        wrong += run.outstanding(run.sender) + run.outstanding(run.receiver);
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** A message whose copy failed is no longer in hand, so its sender has the credit of it again. */
    public static String creditBehindFault(int length, int calls) {
        LateFaultRun run = new LateFaultRun(-1, false);
        String wrong = run.connect();
        PeerSends from = run.receiver.endpoint.peers().all().getFirst();
        int before = from.grant();
        for (int i = 0; i < 8; i++) {
            run.receiver.receive(length, 2);
            LateFault.arm(calls);
            run.sender.endpoint.send(KIND, run.sender.buf, length, run.toReceiver, 5, 0, 2);
            run.cycles();
            LateFault.disarm();
            run.cycles();
            run.sender.completions.takeAll();
            run.receiver.completions.takeAll();
        }
        String place = LateFault.place();
        int granted = from.grant() - before;
        wrong += granted == 8 * ByteCredit.cost(length) ? "" : "only " + granted + " bytes of credit are back; ";
        run.close();
        return wrong.isEmpty() ? "" : wrong + "raised at " + place;
    }

    /** The first message waits for the connection, the second one prepares the short way for those behind it. */
    private String connect() {
        return deliver(0, true, 64, 1) + deliver(0, true, 64, 1);
    }

    private String deliver(long level, boolean receivesFirst, int length, long context) {
        if (receivesFirst) {
            receiver.receive(length, context);
        }
        sender.endpoint.send(KIND | level, sender.buf, length, toReceiver, 5, 0, context);
        cycles();
        if (!receivesFirst) {
            receiver.receive(length, context);
            cycles();
        }
        LateFault.disarm();
        cycles();
        return sender.wrongEntries(context) + receiver.wrongEntries(context);
    }

    private String outstanding(Client client) {
        EngineEndpoint endpoint = client.endpoint;
        // the one receive that a client posted at its begin and nobody sends to
        int receives = callsOfSecond < 0 ? 0 : 1;
        return endpoint.outstandingSends() == 0 && endpoint.outstandingReceives() == receives ? ""
            : endpoint.settings().address() + " has " + endpoint.outstandingSends() + " sends and "
            + endpoint.outstandingReceives() + " receives; ";
    }

    private void cycles() {
        for (int i = 0; i < CYCLES; i++) {
            try {
                if (engine.takeFault() != null) {
                    recover();
                }
                engine.poll(16);
                // what a fault point does, which ends each cycle
                LateFault.onFaultPoint();
            } catch (InternalError e) {
                engine.fault(e);
            }
        }
    }

    private void recover() {
        if (toEnd != null) {
            engine.closeSession(toEnd.session);
            engine.recover(List.of(receiver.session));
            return;
        }
        if (callsOfSecond < 0) {
            engine.recover(List.of(sender.session, receiver.session));
            return;
        }
        // as the progress agent does: whoever is ended is not asked for again
        if (!ending) {
            ending = true;
            LateFault.fail(callsOfSecond);
            engine.closeSession(receiver.session);
        }
        engine.recover(List.of(sender.session));
    }

    private void close() {
        engine.closeSession(sender.session);
        engine.closeSession(receiver.session);
        sender.free();
        receiver.free();
    }
}
