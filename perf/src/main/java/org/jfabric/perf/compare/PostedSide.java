package org.jfabric.perf.compare;

import java.util.List;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.ToolException;

/**
 * An exchange with {@link #POSTED} receives posted over {@link #TAGS} tags. The first side has two peers: it sends to
 * them in turn, and takes each answer before it sends the next message. Before the first message each endpoint has
 * cancelled a receive and peeked for a message in vain.
 */
final class PostedSide implements Side {
    private static final int POSTED = 128;
    private static final int TAGS = 4;
    private static final int CHUNK = 64;
    private static final int LIMIT = 4;
    private static final long TAG = 0x706f7374L;
    private static final long NO_TAG = TAG - 1;
    private static final long SEND = -1;
    private static final long RECEIVE = 1;
    private static final long CANCELLED = 2;
    private static final long PEEK = 3;
    private static final String SECOND = "-second";

    private final SideSettings settings;
    private final boolean begins;
    private final List<Node> nodes;
    private long messages;

    /** Starts the driver, or where two peers answer both. */
    PostedSide(SideSettings settings) {
        this.settings = settings;
        begins = settings.role() == SideRole.PING;
        String name = settings.role().text();
        // of two peers in turn each has every second tag
        nodes = begins ? List.of(new Node(settings, name, 0, 1))
            : List.of(new Node(settings, name, 0, 2), new Node(settings, name + SECOND, 1, 2));
    }

    @Override
    public void connect() {
        String other = settings.other().text();
        for (Node node : nodes) {
            node.connect(begins ? new String[] {other, other + SECOND} : new String[] {other});
        }
    }

    @Override
    public void cycle() {
        nodes.forEach(Node::poll);
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            int chunk = (int) Math.min(CHUNK, count - done);
            if (begins) {
                ping(nodes.getFirst(), chunk);
            } else {
                pong(nodes.getFirst(), nodes.getLast(), chunk);
            }
        }
        return begins ? System.nanoTime() - begin : 0;
    }

    private void ping(Node node, int count) {
        for (int i = 0; i < count; i++) {
            node.send((int) (messages & 1), TAG + messages % TAGS);
            node.post();
            node.await();
            messages++;
        }
    }

    private void pong(Node first, Node second, int count) {
        for (int i = 0; i < count; i++) {
            Node node = (messages & 1) == 0 ? first : second;
            node.await();
            node.send(0, TAG + messages % TAGS);
            node.post();
            messages++;
        }
    }

    @Override
    public void close() {
        nodes.forEach(node -> node.fabric.close());
    }

    /** An endpoint with its driver. */
    private static final class Node implements CompletionHandler {
        private final PingPongFabric fabric;
        private final Endpoint endpoint;
        private final CompletionQueue queue;
        private final long sizeBytes;
        private final long sendAddress;
        private final long receiveAddress;
        private final int step;
        private final long[] peers = new long[2];
        private int tag;
        private long received;
        private long awaited;

        Node(SideSettings settings, String name, int firstTag, int step) {
            this.step = step;
            tag = firstTag;
            sizeBytes = settings.sizeBytes();
            // two more than are posted: the next one, and the one that is cancelled
            fabric = PingPongFabric.streaming(settings.directory().resolve(name), ThreadingMode.INVOKER, "shm",
                sizeBytes, name, 2 * POSTED, 1);
            endpoint = fabric.endpoint();
            queue = fabric.queue();
            sendAddress = fabric.sendRegion().address(0);
            receiveAddress = fabric.receiveRegion().address(0);
        }

        void connect(String... others) {
            for (int i = 0; i < others.length; i++) {
                peers[i] = fabric.peer(others[i], others[i]);
            }
            for (int i = 0; i < POSTED; i++) {
                post();
            }
            check(endpoint.trecv(receiveAddress, sizeBytes, FabricAddress.ADDR_UNSPEC, NO_TAG, 0, CANCELLED));
            check(endpoint.cancel(CANCELLED));
            awaitError(FabricErrno.ECANCELED);
            check(endpoint.messages().trecvmsg(0, 0, FabricAddress.ADDR_UNSPEC, NO_TAG, 0, PEEK, Flags.PEEK));
            awaitError(FabricErrno.ENOMSG);
        }

        private void awaitError(int errno) {
            int result;
            while ((result = queue.poll(this, LIMIT)) == -FabricErrno.EAGAIN || result >= 0) {
                Thread.onSpinWait();
            }
            CompletionError error = new CompletionError();
            if (result != -FabricErrno.EAVAIL || queue.readErr(error, 0) != 1 || error.err() != errno) {
                throw new ToolException("A cancel or a peek ended with " + error.err() + " instead of " + errno + '.');
            }
        }

        void post() {
            check(endpoint.trecv(receiveAddress, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG + tag, 0, RECEIVE));
            tag = (tag + step) % TAGS;
        }

        void send(int peer, long messageTag) {
            int result;
            while ((result = endpoint.tsend(sendAddress, sizeBytes, peers[peer], messageTag, SEND))
                == -FabricErrno.EAGAIN) {
                poll();
            }
            check(result);
        }

        void await() {
            awaited++;
            while (received < awaited) {
                poll();
            }
        }

        void poll() {
            int result = queue.poll(this, LIMIT);
            if (result < 0 && result != -FabricErrno.EAGAIN) {
                throw new ToolException(fabric.failure());
            }
        }

        @Override
        public void onCompletion(Completion completion) {
            received += completion.opContext() == RECEIVE ? 1 : 0;
        }

        private void check(int result) {
            if (result != 0) {
                throw new ToolException("A call answered " + result + '.');
            }
        }
    }
}
