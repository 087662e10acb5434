package org.jfabric.driver.soak;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A sender in a process of its own, which sends the messages of a {@link ContextScript} as fast as it can, one after
 * the other, and may be killed at any time.
 *
 * <p>Arguments: directory, link, number of the sender, seed, messages, contexts of its own, contexts of the receiver
 * (0: each name is an endpoint), names. It says "ready NAME", "posted" and "ended FAILED".
 */
final class ContextSenderMain {
    private static final int PLACES = 16;
    private static final int PLACE = 1 << 19;

    private final Fabric fabric;
    private final MemoryRegion memory;
    private final List<Endpoint> contexts = new ArrayList<>();
    private final long[] targets;
    private final ContextScript script;
    private final QueueReader reader;
    private final boolean[] used = new boolean[PLACES];
    private int failed;

    private ContextSenderMain(String[] args) {
        int own = Integer.parseInt(args[5]);
        int theirs = Integer.parseInt(args[6]);
        String[] names = Arrays.copyOfRange(args, 7, args.length);
        fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[0])));
        Info hints = theirs == 0 ? ContextWorld.hints() : ScalableSide.hints();
        Info info = fabric.info(hints.linkName(args[1])).best();
        Domain domain = fabric.domain(info);
        memory = domain.allocate((long) PLACES * PLACE);
        CompletionQueue queue = domain.openCompletionQueue(
            new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
        reader = new QueueReader(queue, () -> { });
        AddressVector peers = domain.openAddressVector(
            new AddressVectorAttr().rxCtxBits(theirs == 0 ? 0 : ScalableSide.BITS));
        String name = theirs == 0
            ? openPlain(domain, info, queue, peers) : openScalable(domain, info, queue, peers, own);
        targets = new long[theirs == 0 ? names.length : theirs];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = theirs == 0 ? peers.insert(names[i])
                : FabricAddress.rxAddr(i == 0 ? peers.insert(names[0]) : targets[0], i, ScalableSide.BITS);
        }
        script = new ContextScript(Integer.parseInt(args[2]), Long.parseLong(args[3]), own, targets.length);
        say("ready " + name);
    }

    private String openPlain(Domain domain, Info info, CompletionQueue queue, AddressVector peers) {
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(peers);
        endpoint.enable();
        contexts.add(endpoint);
        return endpoint.name();
    }

    private String openScalable(Domain domain, Info info, CompletionQueue queue, AddressVector peers, int own) {
        info.epAttr().txCtxCnt(own).rxCtxCnt(1);
        ScalableEndpoint scalable = domain.openScalableEndpoint(info);
        scalable.bind(peers);
        scalable.enable();
        for (int i = 0; i < own; i++) {
            contexts.add(ScalableSide.enabled(scalable.txContext(i), queue, Flags.TRANSMIT));
        }
        return scalable.name();
    }

    public static void main(String[] args) throws IOException {
        ContextSenderMain sender = new ContextSenderMain(args);
        int count = Integer.parseInt(args[4]);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        // until the receiver knows the address
        input.readLine();
        for (int i = 1; i <= count; i++) {
            sender.send(i);
        }
        say("posted");
        while (sender.isBusy()) {
            sender.read();
        }
        say("ended " + sender.failed);
        // until the receiver has everything
        input.readLine();
        sender.fabric.close();
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private void send(int number) {
        ContextScript.Sent message = script.message(number);
        int place = freePlace();
        long offset = (long) place * PLACE;
        ContextScript.fill(memory.buffer(), (int) offset, message);
        used[place] = !message.inject;
        int result = post(message, offset, place);
        while (result == -FabricErrno.EAGAIN) {
            read();
            result = post(message, offset, place);
        }
        if (result != 0) {
            throw new AssertionError(message + ": " + FabricErrno.name(-result));
        }
    }

    private int post(ContextScript.Sent message, long offset, int place) {
        Endpoint endpoint = contexts.get(message.context);
        long to = targets[message.to];
        if (message.inject) {
            return message.tagged
                ? endpoint.messages().tinjectdata(
                    memory.buffer(), (int) offset, message.length, message.id, to, message.tag)
                : endpoint.messages().injectdata(memory.buffer(), (int) offset, message.length, message.id, to);
        }
        long buf = memory.address(offset);
        return message.tagged ? endpoint.messages().tsenddata(buf, message.length, message.id, to, message.tag, place)
            : endpoint.messages().senddata(buf, message.length, message.id, to, place);
    }

    private int freePlace() {
        for (int i = 0;; i = (i + 1) % PLACES) {
            if (!used[i]) {
                return i;
            }
            if (i == PLACES - 1) {
                read();
            }
        }
    }

    private boolean isBusy() {
        for (boolean each : used) {
            if (each) {
                return true;
            }
        }
        return false;
    }

    private void read() {
        FabricNode.Entry entry = reader.poll();
        if (entry == null) {
            Thread.yield();
        } else {
            failed += entry.err() == 0 ? 0 : 1;
            if ((entry.flags() & Flags.SEND) != 0 && entry.context() < PLACES) {
                used[(int) entry.context()] = false;
            }
        }
    }
}
