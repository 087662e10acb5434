package org.jfabric.driver.qualify;

import java.nio.file.Path;
import java.util.Locale;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;

/**
 * One side of a pair of applications: {@code serve}, {@code measure} or {@code lose}, then link, own address, folder,
 * count and the name of the other one. Each message is numbered, and its end depends on the number.
 */
final class PeerMain {
    private static final long HELLO = -1;
    private static final long END = -2;
    private static final long QUIT = -3;
    private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
    private static final int ROUNDS = 2;
    private static final int[] SIZES = {64, 4096};
    private static final int UNTIL_RUNNING = 500;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_S = 1e9;

    private final PeerNode node;
    private final int count;
    private long remote;
    private long key;

    private PeerMain(PeerNode node, int count) {
        this.node = node;
        this.count = count;
    }

    public static void main(String[] args) {
        try (PeerNode node = new PeerNode(args[1], args[2], Path.of(args[3]))) {
            PeerMain peer = new PeerMain(node, Integer.parseInt(args[4]));
            switch (args[0]) {
                case "serve" -> peer.serve();
                case "measure" -> peer.measure(args[5]);
                default -> peer.lose(args[5]);
            }
        }
    }

    private void serve() {
        System.out.println("ready " + node.listen());
        node.accept();
        int hello = node.receive();
        UnsafeBuffer bytes = node.bytes(hello);
        node.peer(bytes.getStringAscii(Long.BYTES));
        node.release(hello);
        node.sendNumbers(HELLO, node.shared == null ? 0 : node.shared.remoteAddress(),
            node.shared == null ? 0 : node.shared.key());
        long next = 0;
        long beganNs = 0;
        while (true) {
            FabricNode.Entry entry = node.poll();
            if (entry == null) {
                continue;
            }
            if (entry.err() != 0) {
                throw new AssertionError(FabricErrno.name(entry.err()) + " behind message " + next);
            }
            int place = (int) entry.context();
            bytes = node.bytes(place);
            long number = bytes.getLong(0);
            if (number == QUIT) {
                return;
            }
            if (number == END) {
                node.release(place);
                node.sendNumbers(next, System.nanoTime() - beganNs);
                next = 0;
                continue;
            }
            beganNs = number == 0 ? System.nanoTime() : beganNs;
            if (number != next || bytes.getLong((int) entry.len() - Long.BYTES) != number * FACTOR) {
                throw new AssertionError("message " + number + " with other bytes, or in place of " + next);
            }
            next++;
            node.release(place);
        }
    }

    private void greet(String name) {
        node.connect(name);
        UnsafeBuffer bytes = node.bytes(0);
        bytes.putLong(0, HELLO);
        node.send(Long.BYTES + bytes.putStringAscii(Long.BYTES, node.endpoint.name()));
        int place = node.receive();
        remote = node.bytes(place).getLong(Long.BYTES);
        key = node.bytes(place).getLong(2 * Long.BYTES);
        node.release(place);
    }

    private void measure(String name) {
        greet(name);
        for (int size : SIZES) {
            double rate = 0;
            for (int round = 0; round < ROUNDS; round++) {
                rate = rate(size);
            }
            say("rate %d bytes=%.0f", size, rate);
        }
        if (node.has(Flags.RMA)) {
            for (int size : SIZES) {
                access(size);
            }
        }
        if (node.has(Flags.ATOMIC)) {
            add();
        }
        node.sendNumbers(QUIT);
        say("result messages%s%s", node.has(Flags.RMA) ? ", remote writes and reads" : "",
            node.has(Flags.ATOMIC) ? ", atomic additions" : "");
    }

    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    /** Sends messages, and asks how many came right, and in which time. */
    private double rate(int size) {
        boolean[] busy = new boolean[PeerNode.WINDOW];
        Deadline deadline = Deadline.in(60);
        for (int i = 0; i < count; i++) {
            int place = i % PeerNode.WINDOW;
            while (busy[place] || !send(place, size, i)) {
                deadline.check("room for message " + i, () -> "of " + size + " bytes");
                complete(busy);
            }
            busy[place] = true;
        }
        for (int place = 0; place < busy.length; place++) {
            while (busy[place]) {
                deadline.check("the last sends", () -> "of " + size + " bytes");
                complete(busy);
            }
        }
        node.sendNumbers(END);
        int answer = node.receive();
        long came = node.bytes(answer).getLong(0);
        long elapsedNs = node.bytes(answer).getLong(Long.BYTES);
        node.release(answer);
        if (came != count) {
            throw new AssertionError(came + " of " + count + " messages came");
        }
        return count / (elapsedNs / NS_PER_S);
    }

    private boolean send(int place, int size, long number) {
        UnsafeBuffer bytes = node.bytes(place);
        bytes.putLong(0, number);
        bytes.putLong(size - Long.BYTES, number * FACTOR);
        int refused = node.trySend(place, size);
        if (refused != 0 && refused != FabricErrno.EAGAIN) {
            throw new AssertionError("a message was refused: " + FabricErrno.name(refused));
        }
        return refused == 0;
    }

    private void complete(boolean[] busy) {
        FabricNode.Entry entry = node.poll();
        if (entry != null) {
            if (entry.err() != 0) {
                throw new AssertionError("a send ended with " + FabricErrno.name(entry.err()));
            }
            busy[(int) entry.context()] = false;
        }
    }

    /** Writes, reads back into another place and compares. */
    private void access(int size) {
        long writeNs = 0;
        long readNs = 0;
        for (int i = 0; i < count; i++) {
            node.bytes(0).putBytes(0, FabricNode.pattern(i, 0, size));
            node.bytes(1).setMemory(0, size, (byte) 0);
            long beganNs = System.nanoTime();
            done(node.endpoint.remoteMemory().write(
                node.memory.address(), size, node.peer, remote, key, PeerNode.ACCESS));
            long writtenNs = System.nanoTime();
            done(node.endpoint.remoteMemory().read(
                node.memory.address(PeerNode.LONGEST), size, node.peer, remote, key, PeerNode.ACCESS));
            writeNs += writtenNs - beganNs;
            readNs += System.nanoTime() - writtenNs;
            FabricNode.assertPattern(node.bytes(1), 0, size, i, 0);
        }
        say("time remote write, %d bytes=%.2f", size, writeNs / NS_PER_US / count);
        say("time remote read, %d bytes=%.2f", size, readNs / NS_PER_US / count);
    }

    private void done(int result) {
        if (result != 0) {
            throw new AssertionError("an access was refused: " + FabricErrno.name(-result));
        }
        node.await(PeerNode.ACCESS);
    }

    /** Each addition finds the number of those before it. */
    private void add() {
        UnsafeBuffer bytes = node.bytes(0);
        AtomicRequest request = new AtomicRequest();
        long before = 0;
        long elapsedNs = 0;
        for (int i = 0; i < count; i++) {
            bytes.putLong(0, 1);
            request.clear().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
                .operands(node.memory.address()).results(node.memory.address(PeerNode.LONGEST))
                .destAddr(node.peer).remote(remote, key).opContext(PeerNode.ACCESS);
            long beganNs = System.nanoTime();
            done(node.endpoint.atomics().fetchAtomicmsg(request));
            elapsedNs += System.nanoTime() - beganNs;
            long found = node.bytes(1).getLong(0);
            if (i > 0 && found != before + 1) {
                throw new AssertionError("addition " + i + " found " + found + " behind " + before);
            }
            before = found;
        }
        say("time atomic addition=%.2f", elapsedNs / NS_PER_US / count);
    }

    /** Sends until that fails, and waits until everything that was begun has ended. */
    private void lose(String name) {
        greet(name);
        int underWay = 0;
        int error = 0;
        long sent = 0;
        boolean[] busy = new boolean[PeerNode.WINDOW];
        Deadline deadline = Deadline.in(60);
        while (error == 0 || underWay > 0) {
            deadline.check("the end of sends to a process that was killed", () -> "");
            int place = (int) (sent % PeerNode.WINDOW);
            if (error == 0 && !busy[place]) {
                node.bytes(place).putLong(0, sent);
                node.bytes(place).putLong(SIZES[0] - Long.BYTES, sent * FACTOR);
                int refused = node.trySend(place, SIZES[0]);
                if (refused == 0) {
                    busy[place] = true;
                    underWay++;
                    sent++;
                } else if (refused != FabricErrno.EAGAIN) {
                    error = refused;
                }
                if (sent == UNTIL_RUNNING && refused == 0) {
                    System.out.println("running");
                }
            }
            FabricNode.Entry entry = node.poll();
            if (entry != null) {
                error = error == 0 ? entry.err() : error;
                if (!PeerNode.isReceive(entry)) {
                    busy[(int) entry.context()] = false;
                    underWay--;
                }
            }
        }
        System.out.println("ended " + FabricErrno.name(error) + " after " + sent + " messages");
    }
}
