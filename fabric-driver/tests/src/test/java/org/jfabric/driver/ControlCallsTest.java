package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.ConnectionRequest;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Fid;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.MulticastGroup;
import org.jfabric.PassiveEndpoint;
import org.jfabric.ScalableEndpoint;
import org.jfabric.Table;
import org.jfabric.codec.control.AcceptConnectionDecoder;
import org.jfabric.codec.control.CloseObjectDecoder;
import org.jfabric.codec.control.ConnectEndpointDecoder;
import org.jfabric.codec.control.ControlWorkDecoder;
import org.jfabric.codec.control.DrainDriverDecoder;
import org.jfabric.codec.control.EnableEndpointDecoder;
import org.jfabric.codec.control.EnableRegionDecoder;
import org.jfabric.codec.control.ExplainPathDecoder;
import org.jfabric.codec.control.InsertAddressDecoder;
import org.jfabric.codec.control.JoinGroupDecoder;
import org.jfabric.codec.control.LeaveGroupDecoder;
import org.jfabric.codec.control.ListenDecoder;
import org.jfabric.codec.control.NamePassiveEndpointDecoder;
import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.codec.control.OpenCounterDecoder;
import org.jfabric.codec.control.OpenPassiveEndpointDecoder;
import org.jfabric.codec.control.OpenScalableEndpointDecoder;
import org.jfabric.codec.control.OpenTableDecoder;
import org.jfabric.codec.control.OpenViewDecoder;
import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.codec.control.PassFileDecoder;
import org.jfabric.codec.control.PublishServiceDecoder;
import org.jfabric.codec.control.QueryInfoDecoder;
import org.jfabric.codec.control.QueueCounterWorkDecoder;
import org.jfabric.codec.control.RegisterRegionDecoder;
import org.jfabric.codec.control.RegisterWithCardDecoder;
import org.jfabric.codec.control.RejectConnectionDecoder;
import org.jfabric.codec.control.RemoveAddressDecoder;
import org.jfabric.codec.control.ResetCycleTimesDecoder;
import org.jfabric.codec.control.ShutdownEndpointDecoder;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.w3c.dom.Element;

/**
 * All control calls, each by a client of its own, while their driver is stopped: what is left behind by those that are
 * interrupted, whose time is over, or whose driver dies.
 */
@Tag("slow")
@Timeout(120)
class ControlCallsTest {
    /** Commands of tools, whose clients end with them, and one that needs a card. */
    private static final Set<Integer> EXEMPT = Set.of(DrainDriverDecoder.TEMPLATE_ID,
        ResetCycleTimesDecoder.TEMPLATE_ID, OpenViewDecoder.TEMPLATE_ID, RegisterWithCardDecoder.TEMPLATE_ID);
    private static final Path SCHEMA = Path.of("..", "codecs", "src", "main", "resources", "control.xml");
    private static final long SHORT_NS = Deadline.ns(1) / 4;
    private static final int RECEIVES = 8;
    private static final List<SystemCounter> OBJECTS = List.of(SystemCounter.ENDPOINTS,
        SystemCounter.COMPLETION_QUEUES, SystemCounter.COUNTERS, SystemCounter.REGIONS);

    private final Path base = TestDirectory.create();
    private final List<Client> clients = new ArrayList<>();
    private DriverProcess driver;
    private DriverView view;
    private boolean isStopped;

    /** A call, the commands that it sends, how a client prepares it, and whether it closes again what it has not. */
    private record Case(String name, Set<Integer> commands, Function<Client, Call> preparation, boolean isRepeated) {
        @Override
        public String toString() {
            return name;
        }
    }

    /**
     * What is called.
     *
     * @param opens  the call; returns what it has opened, or null.
     * @param closes what it closes, or null.
     * @param check  must become true once all of it is over, without a control call of this client before; or null.
     */
    private record Call(Supplier<AutoCloseable> opens, Fid closes, BooleanSupplier check) {
    }

    /** One application. */
    private static final class Client {
        final Case tried;
        final Fabric fabric;
        final int number;
        /** To be closed in the end, the last one first. */
        final Deque<AutoCloseable> opened = new ArrayDeque<>();
        final Arena arena = Arena.ofShared();
        Call call;
        Thread thread;
        volatile Throwable failure;
        volatile boolean hasEnded;
        volatile boolean isInterrupted;

        Client(Case tried, Path directory, long commandTimeoutNs, int number) {
            this.tried = tried;
            this.number = number;
            fabric = Fabric.connect(new FabricConfig().directory(directory).commandTimeoutNs(commandTimeoutNs)
                .closeTimeoutNs(0));
        }

        <T extends AutoCloseable> T keep(T object) {
            opened.push(object);
            return object;
        }

        Domain domain() {
            return domain(plain().caps(Flags.TAGGED | Flags.MSG | Flags.RMA | Flags.TRIGGER));
        }

        Domain domain(Info hints) {
            return keep(fabric.domain(fabric.info(hints).best()));
        }

        Endpoint endpoint(Domain domain, CompletionQueue queue) {
            Endpoint endpoint = keep(domain.openEndpoint(domain.info()));
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(keep(domain.openAddressVector(new AddressVectorAttr())));
            // behind what it is bound to, in the order of closing
            opened.remove(endpoint);
            return keep(endpoint);
        }

        Endpoint enabled(Domain domain) {
            Endpoint endpoint = endpoint(domain, queue(domain));
            endpoint.enable();
            return endpoint;
        }

        CompletionQueue queue(Domain domain) {
            return keep(domain.openCompletionQueue(new CompletionQueueAttr().size(RECEIVES)));
        }

        EventQueue events() {
            return keep(fabric.openEventQueue(new EventQueueAttr()));
        }

        PassiveEndpoint passive(EventQueue events) {
            PassiveEndpoint passive = keep(fabric.openPassiveEndpoint(fabric.info(ConnectionSide.hints()).best()));
            passive.bind(events, 0);
            return passive;
        }

        Endpoint connecting(Domain domain, EventQueue events, Info info) {
            CompletionQueue queue = queue(domain);
            Endpoint endpoint = keep(domain.openEndpoint(info));
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(events, 0);
            return endpoint;
        }

        /** The call, in a thread that is interrupted from the beginning on. */
        void start() {
            thread = new Thread(() -> {
                Thread.currentThread().interrupt();
                try {
                    AutoCloseable result = call.opens().get();
                    if (result != null) {
                        keep(result);
                    }
                } catch (RuntimeException | Error failed) {
                    failure = failed;
                }
                isInterrupted = Thread.currentThread().isInterrupted();
                hasEnded = true;
            }, tried.name());
            thread.start();
        }

        int errno() {
            return failure instanceof FabricException refused ? refused.errno() : failure == null ? 0 : -1;
        }

        void closeAll() {
            try {
                while (!opened.isEmpty()) {
                    opened.peek().close();
                    opened.pop();
                }
            } catch (Exception failed) {
                throw new AssertionError(tried + " has left " + opened, failed);
            }
        }
    }

    @BeforeEach
    void start() {
        driver = DriverProcess.start(base.resolve("alpha"), "jfabric.tcp.interface=lo");
        view = new DriverView(driver.directory());
    }

    @AfterEach
    void end() {
        if (isStopped) {
            TestProcess.signal(driver.process(), "CONT");
        }
        closeFabrics();
        driver.close();
        view.close();
        TestDirectory.delete(base);
    }

    @Test
    void shouldLeaveNothingBehindOfCallsThatAreInterruptedOrEndWithoutAnAnswer() {
        tryWithoutAnswerInTime();
        closeFabrics();
        tryWithLateAnswer();
        closeFabrics();
        tryWithoutDriver();
    }

    private void tryWithoutAnswerInTime() {
        Set<String> files = prepare(SHORT_NS);
        stop();
        clients.forEach(Client::start);
        awaitEnds();
        for (Client each : clients) {
            assertEquals(FabricErrno.ETIMEDOUT, each.errno(), () -> each.tried + ": " + each.failure);
            assertTrue(each.isInterrupted, () -> each.tried + " has taken the interrupt");
            assertTrue(each.call.closes() == null || each.call.closes().isOpen(), () -> each.tried + " is closed");
        }
        resume();
        for (Client each : clients) {
            if (each.tried.isRepeated()) {
                closeAgain(each);
                assertFalse(each.call.closes().isOpen(), each.tried::name);
            }
        }
        assertNothingIsLeft(files);
    }

    /** On a busy machine the driver may need longer than a command has in these clients. */
    private static void closeAgain(Client client) {
        Deadline deadline = Deadline.in(20);
        while (true) {
            try {
                client.call.closes().close();
                return;
            } catch (FabricException late) {
                assertEquals(FabricErrno.ETIMEDOUT, late.errno(), () -> client.tried + ": " + late);
                deadline.check("an answer to " + client.tried, late::toString);
            }
        }
    }

    private void tryWithLateAnswer() {
        Set<String> files = prepare(Deadline.ns(20));
        stop();
        startAndInterrupt();
        resume();
        awaitEnds();
        for (Client each : clients) {
            assertNull(each.failure, () -> each.tried + ": " + each.failure);
            assertTrue(each.isInterrupted, () -> each.tried + " has taken the interrupt");
        }
        assertNothingIsLeft(files);
    }

    private void tryWithoutDriver() {
        prepare(Deadline.ns(20));
        stop();
        startAndInterrupt();
        isStopped = false;
        driver.kill();
        awaitEnds();
        for (Client each : clients) {
            boolean closes = each.call.closes() != null;
            assertEquals(closes ? 0 : FabricErrno.ENODEV, each.errno(), () -> each.tried + ": " + each.failure);
            assertTrue(!closes || !each.call.closes().isOpen(), () -> each.tried + " is open");
            each.closeAll();
        }
    }

    private void startAndInterrupt() {
        clients.forEach(Client::start);
        for (Client each : clients) {
            Deadline.awaitParked(() -> each.tried + " waits: " + each.thread.getState(),
                () -> each.thread.getState() == Thread.State.TIMED_WAITING || each.hasEnded);
            each.thread.interrupt();
        }
    }

    private void closeFabrics() {
        clients.forEach(each -> each.fabric.close(0));
        clients.clear();
    }

    @Test
    void shouldTryEveryCommand() throws Exception {
        var messages = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(SCHEMA.toFile())
            .getElementsByTagName("sbe:message");
        Set<Integer> commands = new TreeSet<>();
        for (int i = 0; i < messages.getLength(); i++) {
            int id = Integer.parseInt(((Element) messages.item(i)).getAttribute("id"));
            if (id >= OpenTableDecoder.TEMPLATE_ID && id <= LeaveGroupDecoder.TEMPLATE_ID) {
                commands.add(id);
            }
        }
        Set<Integer> tried = new TreeSet<>(EXEMPT);
        cases().forEach(each -> tried.addAll(each.commands()));
        assertEquals(commands, tried);
    }

    /** A client for each call that is ready for it; returns the files that belong to the clients alone. */
    private Set<String> prepare(long commandTimeoutNs) {
        for (Case each : cases()) {
            clients.add(new Client(each, driver.directory(), commandTimeoutNs, clients.size()));
        }
        Set<String> files = files();
        for (Client each : clients) {
            each.call = each.tried.preparation().apply(each);
        }
        return files;
    }

    private void awaitEnds() {
        for (Client each : clients) {
            Deadline.awaitParked(() -> each.tried + " does not end: " + List.of(each.thread.getStackTrace()),
                () -> each.hasEnded);
        }
    }

    private void assertNothingIsLeft(Set<String> files) {
        for (Client each : clients) {
            Fid closed = each.call.closes();
            Deadline.awaitParked(() -> each.tried + " does not close " + closed,
                () -> closed == null || !closed.isOpen());
            if (each.call.check() != null) {
                Deadline.awaitParked(() -> each.tried + " has left something", each.call.check());
            }
            each.closeAll();
        }
        Deadline.awaitParked(() -> "left are " + left(files) + ", counters " + view.counters(),
            () -> left(files).isEmpty() && OBJECTS.stream().allMatch(each -> view.counter(each.label()) == 0));
        assertEquals(List.of(), view.errors());
    }

    private Set<String> left(Set<String> files) {
        Set<String> left = files();
        left.removeAll(files);
        return left;
    }

    private Set<String> files() {
        try (Stream<Path> all = Files.list(driver.directory())) {
            return all.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void stop() {
        isStopped = true;
        TestProcess.signal(driver.process(), "STOP");
        Deadline.awaitParked("all threads of the driver to stop", () -> threadStates().allMatch("T"::equals));
    }

    private Stream<String> threadStates() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(driver.process().pid()), "task"))) {
            List<String> states = new ArrayList<>();
            for (Path each : threads.toList()) {
                String line = Files.readString(each.resolve("stat"));
                states.add(line.substring(line.lastIndexOf(')') + 2, line.lastIndexOf(')') + 3));
            }
            return states.stream();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void resume() {
        TestProcess.signal(driver.process(), "CONT");
        isStopped = false;
    }

    private static List<Case> cases() {
        List<Case> all = new ArrayList<>();
        opens(all);
        changes(all);
        connections(all);
        // awaited again, and not
        closes(all);
        List<Case> again = new ArrayList<>();
        closes(again);
        again.forEach(each -> all.add(new Case(each.name() + ", repeated", each.commands(), each.preparation(), true)));
        return all;
    }

    private static void add(List<Case> all, String name, Function<Client, Call> preparation, Integer... commands) {
        all.add(new Case(name, Set.of(commands), preparation, false));
    }

    private static Info plain() {
        return new Info().caps(Flags.TAGGED | Flags.MSG).linkName("shm");
    }

    private static Call open(Supplier<AutoCloseable> call) {
        return new Call(call, null, null);
    }

    private static Call run(Runnable call) {
        return run(call, null);
    }

    private static Call run(Runnable call, BooleanSupplier check) {
        return new Call(() -> {
            call.run();
            return null;
        }, null, check);
    }

    private static void require(int result) {
        if (result != 0) {
            throw new FabricException(-result, "the call was refused");
        }
    }

    private static Call close(Fid object) {
        return close(object, null);
    }

    private static Call close(Fid object, BooleanSupplier check) {
        return new Call(() -> {
            object.close();
            return null;
        }, object, check);
    }

    private static void opens(List<Case> all) {
        add(all, "info", client -> run(() -> assertNotNull(client.fabric.info(null))), QueryInfoDecoder.TEMPLATE_ID);
        add(all, "openCompletionQueue", client -> {
            Domain domain = client.domain();
            return open(() -> domain.openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.FD)));
        }, OpenCompletionQueueDecoder.TEMPLATE_ID);
        add(all, "openCounter", client -> {
            Domain domain = client.domain();
            return open(() -> domain.openCounter(new CounterAttr()));
        }, OpenCounterDecoder.TEMPLATE_ID);
        add(all, "openAddressVector", client -> {
            Domain domain = client.domain();
            return open(() -> domain.openAddressVector(new AddressVectorAttr()));
        }, OpenAddressVectorDecoder.TEMPLATE_ID);
        add(all, "openWaitSet", client -> open(() -> client.fabric.openWaitSet(new WaitSetAttr())),
            OpenWaitSetDecoder.TEMPLATE_ID);
        add(all, "open a table", client -> open(() -> Table.on(client.fabric, "jfabric://"
            + client.fabric.driverName() + "/table-" + client.number).slots(1).valueLength(1).openWriter()),
            OpenTableDecoder.TEMPLATE_ID);
        add(all, "allocate", client -> {
            Domain domain = client.domain();
            return open(() -> domain.allocate(4096));
        }, RegisterRegionDecoder.TEMPLATE_ID);
        add(all, "register", client -> {
            Domain domain = client.domain();
            return open(() -> domain.register(client.arena.allocate(4096, 64)));
        }, PassFileDecoder.TEMPLATE_ID);
        add(all, "register again", client -> {
            Domain domain = client.domain();
            client.keep(domain.register(client.arena.allocate(4096, 64)));
            return open(() -> domain.register(client.arena.allocate(4096, 64)));
        }, RegisterRegionDecoder.TEMPLATE_ID);
        add(all, "enable", client -> {
            Domain domain = client.domain();
            Endpoint endpoint = client.endpoint(domain, client.queue(domain));
            return run(endpoint::enable);
        }, EnableEndpointDecoder.TEMPLATE_ID);
        add(all, "openScalableEndpoint", client -> {
            Domain domain = client.domain();
            Info info = domain.info().srcAddr("jfabric://alpha/scalable-" + client.number);
            info.epAttr().txCtxCnt(2).rxCtxCnt(2);
            return new Call(() -> domain.openScalableEndpoint(info), null, () -> isFree(client,
                () -> client.opened.peek() instanceof ScalableEndpoint ? null : domain.openScalableEndpoint(info)));
        }, OpenScalableEndpointDecoder.TEMPLATE_ID);
        add(all, "openPassiveEndpoint", client -> {
            Info info = client.fabric.info(ConnectionSide.hints().linkName("shm")).best()
                .srcAddr("jfabric://alpha/passive-" + client.number);
            return new Call(() -> client.fabric.openPassiveEndpoint(info), null, () -> isFree(client,
                () -> client.opened.isEmpty() ? client.fabric.openPassiveEndpoint(info) : null));
        }, OpenPassiveEndpointDecoder.TEMPLATE_ID);
        add(all, "join", client -> {
            Domain domain = client.domain(GroupRig.hints().linkName("shm"));
            Endpoint endpoint = client.enabled(domain);
            String group = "jfabric://alpha/group-" + client.number;
            return new Call(() -> endpoint.join(group, 0, Flags.SEND), null, () -> isFree(client,
                () -> client.opened.peek() instanceof MulticastGroup ? null : endpoint.join(group, 0, Flags.SEND)));
        }, JoinGroupDecoder.TEMPLATE_ID);
        add(all, "Messenger.open", client -> open(() -> client.fabric.messenger().hints(plain()).open()),
            QueryInfoDecoder.TEMPLATE_ID);
    }

    /** Opens it once more, if that can be: what was opened too late is in the way until it is undone. */
    private static boolean isFree(Client client, Supplier<Fid> again) {
        try {
            Fid object = again.get();
            if (object != null) {
                client.keep(object);
            }
            return true;
        } catch (FabricException taken) {
            assertTrue(taken.errno() == FabricErrno.EADDRINUSE || taken.errno() == FabricErrno.EALREADY,
                taken::toString);
            return false;
        }
    }

    private static void changes(List<Case> all) {
        add(all, "insert", client -> {
            AddressVector vector = client.keep(client.domain().openAddressVector(new AddressVectorAttr()));
            // a number that was given too late is free again
            return run(() -> vector.insert("jfabric://alpha/one"), () -> vector.size() == 1 || isFirst(vector));
        }, InsertAddressDecoder.TEMPLATE_ID);
        add(all, "remove", client -> {
            AddressVector vector = client.keep(client.domain().openAddressVector(new AddressVectorAttr()));
            long number = vector.insert("jfabric://alpha/one");
            return run(() -> vector.remove(number), () -> vector.size() == 0);
        }, RemoveAddressDecoder.TEMPLATE_ID);
        add(all, "publish", client -> {
            Endpoint endpoint = client.enabled(client.domain());
            return run(() -> endpoint.publish("service-" + client.number));
        }, PublishServiceDecoder.TEMPLATE_ID);
        add(all, "MemoryRegion.enable", client -> {
            Domain domain = client.domain();
            MemoryRegion region = client.keep(domain.allocate(
                4096, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(7).flags(Flags.RMA_EVENT)));
            return run(region::enable);
        }, EnableRegionDecoder.TEMPLATE_ID);
        add(all, "path", client -> {
            Domain domain = client.domain();
            CompletionQueue queue = client.queue(domain);
            AddressVector vector = client.keep(domain.openAddressVector(new AddressVectorAttr()));
            Endpoint endpoint = client.keep(domain.openEndpoint(domain.info()));
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
            long self = vector.insert(endpoint.name());
            return run(() -> assertNotNull(endpoint.path(self)));
        }, ExplainPathDecoder.TEMPLATE_ID);
        add(all, "queueWork", client -> {
            Domain domain = client.domain();
            Counter counter = client.keep(domain.openCounter(new CounterAttr()));
            DeferredWork work = new DeferredWork().trigger(counter, 1).counterAdd(counter, 1);
            // work that was queued too late would keep the counter open
            return new Call(() -> {
                require(domain.queueWork(work));
                return () -> require(domain.cancelWork(work));
            }, null, null);
        }, QueueCounterWorkDecoder.TEMPLATE_ID);
        add(all, "flushWork", client -> {
            Domain domain = client.domain();
            return run(() -> require(domain.flushWork()));
        }, ControlWorkDecoder.TEMPLATE_ID);
    }

    private static boolean isFirst(AddressVector vector) {
        long number = vector.insert("jfabric://alpha/other");
        if (number != 0) {
            vector.remove(number);
        }
        return number == 0;
    }

    private static void connections(List<Case> all) {
        add(all, "PassiveEndpoint.setname", client -> {
            PassiveEndpoint passive = client.passive(client.events());
            String name = "jfabric://alpha/named-" + client.number;
            return run(() -> passive.setname(name), () -> passive.name().equals(name));
        }, NamePassiveEndpointDecoder.TEMPLATE_ID);
        add(all, "listen", client -> {
            PassiveEndpoint passive = client.passive(client.events());
            return run(passive::listen, () -> passive.toString().contains("listening"));
        }, ListenDecoder.TEMPLATE_ID);
        add(all, "connect", client -> {
            EventQueue events = client.events();
            PassiveEndpoint passive = client.passive(events);
            passive.listen();
            Endpoint endpoint = client.connecting(client.domain(passive.info()), events, passive.info());
            endpoint.enable();
            return run(() -> endpoint.connect(passive.name()), () -> has(events, EventType.CONNREQ));
        }, ConnectEndpointDecoder.TEMPLATE_ID);
        add(all, "accept", client -> {
            EventQueue events = client.events();
            Info request = requested(client, events);
            Endpoint endpoint = client.connecting(client.domain(request), events, request);
            endpoint.enable();
            return run(endpoint::accept, () -> has(events, EventType.CONNECTED));
        }, AcceptConnectionDecoder.TEMPLATE_ID);
        add(all, "reject", client -> {
            ConnectionRequest request = (ConnectionRequest) requested(client, client.events()).handle();
            return run(() -> request.passive().reject(request));
        }, RejectConnectionDecoder.TEMPLATE_ID);
        add(all, "shutdown", client -> {
            EventQueue events = client.events();
            Info request = requested(client, events);
            Endpoint endpoint = client.connecting(client.domain(request), events, request);
            endpoint.accept();
            for (int i = 0; i < 2; i++) {
                Deadline.awaitParked("connected", () -> has(events, EventType.CONNECTED));
            }
            return run(() -> endpoint.shutdown(0));
        }, ShutdownEndpointDecoder.TEMPLATE_ID);
    }

    /** The info of a request that the client has made to itself. */
    private static Info requested(Client client, EventQueue events) {
        PassiveEndpoint passive = client.passive(events);
        passive.listen();
        client.connecting(client.domain(passive.info()), events, passive.info()).connect(passive.name());
        EventEntry entry = new EventEntry();
        Deadline.awaitParked("a request", () -> events.read(entry, 0) >= 0 && entry.type() == EventType.CONNREQ);
        return entry.info();
    }

    private static boolean has(EventQueue events, EventType type) {
        EventEntry entry = new EventEntry();
        return events.read(entry, 0) >= 0 && entry.type() == type;
    }

    private static void closes(List<Case> all) {
        Integer close = CloseObjectDecoder.TEMPLATE_ID;
        add(all, "CompletionQueue.close", client -> close(client.queue(client.domain())), close);
        add(all, "Counter.close",
            client -> close(client.keep(client.domain(plain()).openCounter(new CounterAttr()))), close);
        add(all, "AddressVector.close",
            client -> close(client.keep(client.domain().openAddressVector(new AddressVectorAttr()))), close);
        add(all, "MemoryRegion.close", client -> close(client.keep(client.domain().allocate(4096))), close);
        add(all, "MemoryRegion.close of copied memory",
            client -> close(client.keep(client.domain().register(client.arena.allocate(4096, 64)))), close);
        add(all, "Endpoint.close", client -> {
            Domain domain = client.domain();
            CompletionQueue queue = client.queue(domain);
            MemoryRegion memory = client.keep(domain.allocate(4096));
            Endpoint other = client.endpoint(domain, queue);
            other.enable();
            Endpoint closed = client.endpoint(domain, queue);
            closed.enable();
            for (int i = 0; i < queue.size(); i++) {
                assertEquals(0, closed.trecv(memory.address(), 64, -1, i, 0, i));
            }
            int[] posted = {0};
            // its slots of the queue are free for the other one
            return close(closed, () -> {
                queue.poll(entry -> { }, 1);
                posted[0] += other.trecv(memory.address(), 64, -1, 1, 0, 1) == 0 ? 1 : 0;
                return posted[0] == queue.size();
            });
        }, close);
        add(all, "CompletionQueue.close after enable", client -> {
            Domain domain = client.domain();
            CompletionQueue queue = client.queue(domain);
            Endpoint endpoint = client.endpoint(domain, queue);
            return new Call(() -> {
                try {
                    endpoint.enable();
                } catch (FabricException noAnswer) {
                    // the driver enables it when it resumes, and finds the queue in use then
                    assertTrue(Thread.currentThread().isInterrupted());
                }
                endpoint.close();
                queue.close();
                return null;
            }, queue, null);
        }, EnableEndpointDecoder.TEMPLATE_ID, close);
        closesOfMany(all);
    }

    /** Those that consist of others, or belong to others. */
    private static void closesOfMany(List<Case> all) {
        Integer close = CloseObjectDecoder.TEMPLATE_ID;
        add(all, "WaitSet.close", client -> close(client.keep(client.fabric.openWaitSet(new WaitSetAttr()))), close);
        add(all, "PassiveEndpoint.close", client -> close(client.passive(client.events())), close);
        add(all, "ScalableEndpoint.close", client -> {
            Domain domain = client.domain();
            Info info = domain.info();
            info.epAttr().txCtxCnt(2).rxCtxCnt(2);
            return close(client.keep(domain.openScalableEndpoint(info)));
        }, close);
        add(all, "MulticastGroup.close", client -> {
            Domain domain = client.domain(GroupRig.hints().linkName("shm"));
            return close(client.keep(
                client.enabled(domain).join("jfabric://alpha/left-" + client.number, 0, Flags.SEND)));
        }, LeaveGroupDecoder.TEMPLATE_ID);
        add(all, "Fabric.close", client -> {
            client.domain().register(client.arena.allocate(4096, 64));
            client.opened.clear();
            return close(client.fabric);
        }, close);
    }
}
