package org.jfabric.driver.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.agrona.UnsafeApi;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendClaim;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/**
 * A client in a process of its own, so that it can be stopped and killed. It says one line for each thing that a test
 * waits for.
 */
final class ChildMain {
    static final int WINDOW = 16;
    static final int SLOT = 1 << 16;

    private ChildMain() {
    }

    static TestProcess start(String mode, Path directory, String... arguments) {
        return TestJvm.start(ChildMain.class,
            Stream.concat(Stream.of(mode, directory.toString()), Stream.of(arguments)).toArray(String[]::new));
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[1]);
        switch (args[0]) {
            case "half" -> half(directory, args[2], Integer.parseInt(args[3]));
            case "claim" -> claim(directory, args[2]);
            case "burst" -> burst(directory, args[2], Long.parseLong(args[3]));
            case "serve" -> serve(directory);
            case "expose" -> expose(directory, args[2], false);
            case "exposeOwn" -> expose(directory, args[2], true);
            case "wait" -> waitForCounter(directory, args[2], Long.parseLong(args[3]));
            case "persist" -> persist(directory, args[2], Path.of(args[3]), Long.parseLong(args[4]));
            case "access" -> access(directory, args[2], args[3], Long.parseLong(args[4]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static String hear() throws IOException {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    }

    /** Ends itself at one of the points between claim and commit. */
    private static void half(Path directory, String peer, int point) throws IOException {
        ControlClient client = new ControlClient(directory, () -> { });
        ControlClient.Queues queues = client.open("half-" + point, "");
        ControlClient.Region region = client.register(1 << 20);
        long dest = client.insert(queues, peer);
        client.receive(queues, region.address(0), 64, 1, 1);
        say("ready " + queues.address);
        hear();
        int offset = queues.transmit.claim(64);
        long record = queues.transmit.ringAddress() + offset;
        if (point >= 1) {
            UnsafeApi.putLong(record + 8, 7);
        }
        if (point >= 2) {
            UnsafeApi.setMemory(record + 8, 56, (byte) 0x5A);
        }
        if (point >= 3) {
            // committed, but nobody was told
            client.send(queues, Flags.TAGGED | Flags.COMPLETION, region.address(0), 1 << 20, dest, 1, 1);
        }
        if (point == 4) {
            int command = client.commands.claim(64);
            UnsafeApi.setMemory(client.commands.ringAddress() + command + 8, 56, (byte) 1);
        }
        Runtime.getRuntime().halt(9);
    }

    /** Ends itself while a message is being encoded in its queue. */
    private static void claim(Path directory, String peer) throws IOException {
        FabricNode node = Bystanders.node("loopback", directory);
        long dest = node.av.insert(peer);
        SendClaim claim = new SendClaim();
        node.endpoint.tryClaim(64, claim);
        claim.buffer().putLong(0, 1);
        claim.commit(8, dest, 5, 1);
        node.endpoint.tryClaim(64, claim);
        claim.buffer().setMemory(0, 64, (byte) -1);
        say("ready " + node.endpoint.name());
        hear();
        claim.buffer().setMemory(0, 64, (byte) 0x5A);
        Runtime.getRuntime().halt(9);
    }

    /** Sends and receives as fast as it can until it is killed. */
    private static void burst(Path directory, String peer, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        FabricNode node = Bystanders.node("loopback", directory);
        long dest = node.av.insert(peer);
        say("ready " + node.endpoint.name());
        for (long i = 0;; i++) {
            int length = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(100);
            node.endpoint.tsend(node.memory.address(0), length, dest, random.nextInt(4), i);
            node.endpoint.trecv(node.memory.address(1 << 20), 200_000, -1L, random.nextInt(4), 0, i);
            while (node.poll() != null) {
                Thread.onSpinWait();
            }
            if (i == 100) {
                say("running " + i);
            }
        }
    }

    private static FabricNode remote(String link, Path directory) {
        return new FabricNode(Fabric.connect(new FabricConfig().directory(directory)), link,
            new Info().caps(Flags.RMA | Flags.MSG | Flags.TAGGED), 64, 0, () -> { });
    }

    /** Gives peers a region in a file, under the key 5. */
    private static void persist(Path directory, String link, Path file, long lengthBytes) throws IOException {
        FabricNode node = new FabricNode(Fabric.connect(new FabricConfig().directory(directory)), link,
            new Info().caps(Flags.RMA | Flags.MSG | Flags.TAGGED), 64, 0, () -> { });
        node.domain.allocatePersistent(file, lengthBytes,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(5));
        say("ready " + node.endpoint.name());
        hear();
    }

    /** Lets others access its memory, which it may have made by itself, until it is killed. */
    private static void expose(Path directory, String link, boolean isOwn) throws IOException {
        FabricNode node = remote(link, directory);
        MemoryRegionAttr attr = new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(5);
        if (isOwn) {
            node.domain.register(MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1 << 20)), attr);
        } else {
            node.domain.allocate(1 << 20, attr);
        }
        say("ready " + node.endpoint.name());
        hear();
    }

    /** Writes and reads the middle of a region as fast as it can until it is killed. */
    private static void access(Path directory, String link, String peer, long key) {
        FabricNode node = remote(link, directory);
        node.memory.buffer().setMemory(0, 1 << 20, (byte) 0x77);
        long dest = node.av.insert(peer);
        for (long i = 0;; i++) {
            if (i % 2 == 0) {
                node.endpoint.remoteMemory().write(node.memory.address(), 1 << 20, dest, 4096, key, i);
            } else {
                node.endpoint.remoteMemory().read(node.memory.address(1 << 20), 1 << 20, dest, 4096, key, i);
            }
            while (node.poll() != null) {
                Thread.onSpinWait();
            }
            if (i == 4) {
                say("running " + i);
            }
        }
    }

    /** Lets work of every kind wait for a counter, and starts some of it again and again, until it is killed. */
    private static void waitForCounter(Path directory, String peer, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        FabricNode node = new FabricNode(Fabric.connect(new FabricConfig().directory(directory)), "loopback",
            new Info().caps(Flags.MSG | Flags.TAGGED | Flags.TRIGGER), 512, 0, () -> { });
        long dest = node.av.insert(peer);
        Counter never = node.domain.openCounter(new CounterAttr());
        Counter often = node.domain.openCounter(new CounterAttr());
        TriggeredContext trigger = new TriggeredContext();
        DeferredWork work = new DeferredWork();
        SendRequest send = new SendRequest().memory(node.memory.address(), 64).destAddr(dest).tag(1).opContext(1);
        ReceiveRequest receive = new ReceiveRequest().memory(node.memory.address(4096), 64).tag(1).opContext(2);
        for (int i = 0; i < 50; i++) {
            node.endpoint.messages().tsendmsg(send.trigger(trigger.threshold(never, 1)));
            node.endpoint.messages().trecvmsg(receive.trigger(trigger.threshold(never, 1)));
            node.domain.queueWork(work.trigger(never, 1).counterAdd(often, 1));
        }
        for (long i = 1;; i++) {
            node.endpoint.messages().tsendmsg(send.trigger(trigger.threshold(often, i + random.nextInt(4))));
            node.domain.queueWork(work.trigger(often, i + random.nextInt(4)).counterAdd(often, 1));
            while (node.poll() != null) {
                Thread.onSpinWait();
            }
            if (i == 100) {
                say("running " + i);
            }
        }
    }

    /** Receives numbered messages, says which one it got, and answers each. */
    private static void serve(Path directory) throws IOException {
        FabricNode node = Bystanders.node("loopback", new FabricConfig().directory(directory).listener(
            new FabricListener() {
                @Override
                public void onPaused(long pauseNs) {
                    say("paused " + pauseNs);
                }

                @Override
                public void onDriverGone(FabricException why) {
                    say("gone " + why.getMessage());
                }
            }));
        for (int i = 0; i < WINDOW; i++) {
            node.endpoint.trecv(node.memory.address((long) i * SLOT), SLOT, -1L, 1, 0, i);
        }
        say("ready " + node.endpoint.name());
        long toPeer = node.av.insert(hear());
        for (int next = 0;;) {
            FabricNode.Entry entry = node.poll();
            if (entry == null) {
                LockSupport.parkNanos(100_000);
                continue;
            }
            if (entry.err() != 0) {
                say("failed " + entry);
            } else if ((entry.flags() & Flags.RECV) != 0) {
                int slot = (int) entry.context();
                long number = node.memory.buffer().getLong(slot * SLOT);
                if (number != next++) {
                    say("lost expected " + (next - 1) + ", got " + number);
                }
                node.endpoint.trecv(node.memory.address((long) slot * SLOT), SLOT, -1L, 1, 0, slot);
                int answer = (WINDOW + slot) * SLOT;
                node.memory.buffer().putLong(answer, number);
                while (node.endpoint.tsend(node.memory.address(answer), 8, toPeer, 2, slot) != 0) {
                    FabricNode.Entry other = node.poll();
                    if (other != null && (other.flags() & Flags.RECV) != 0) {
                        say("lost a receive while answering");
                    }
                }
            }
        }
    }
}
