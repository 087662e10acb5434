package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.simulation.model.NaiveMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** A naive model of some endpoints: what is posted, what waits, what is claimed; and what looks at messages report. */
abstract class EngineModel {
    static final int MAX_LENGTH = 3000;
    static final int SLOTS = 64;
    static final int SEND_AREA = SLOTS * MAX_LENGTH;

    final long seed;
    final Events events;
    final Script script;
    final Random random;
    final Engines rig;
    final List<Model> models = new ArrayList<>();
    long nextId = 1;

    EngineModel(long seed, Events events) {
        this.seed = seed;
        this.events = events;
        script = new Script(seed).randomize();
        random = script.random();
        rig = new Engines(script);
    }

    /** What one run may contain. */
    enum Events {
        NONE, DEATHS, FAILURES
    }

    /** A message as its sender posted it; its id travels as remote CQ data. */
    static final class Message extends org.jfabric.simulation.model.Message {
        int slot;
        ScatteredPieces pieces;
        long level;
        boolean fenced;
        boolean arrived;
        boolean whole;
        boolean dropped;
        boolean mayFail;
        /** Taken out of the endpoint for good: placed in a buffer or discarded. */
        boolean received;
        boolean matched;
        boolean ended;
        int errno;
    }

    /** A receive as it was posted. */
    static final class Receive extends org.jfabric.simulation.model.Receive {
        int slot;
        ScatteredPieces pieces;
        Message message;
        boolean cancelled;
        boolean failed;
        boolean ended;
    }

    /** What a receive with FI_PEEK, or with FI_CLAIM and FI_DISCARD, should report. */
    static final class Look {
        final long flags;
        final Message message;
        final int errno;
        final int slot;
        final int room;
        /** The payload was here, so that it is copied. */
        final boolean copied;

        Look(long flags, Message message, int errno, int slot, int room) {
            this.flags = flags;
            this.message = message;
            this.errno = errno;
            this.slot = slot;
            this.room = room;
            this.copied = errno == 0 && slot >= 0 && message.whole;
        }
    }

    /** What one endpoint should do. */
    static final class Model {
        final NaiveMatcher<Receive, Message> matcher = new NaiveMatcher<>();
        final Map<Long, Message> claimed = new HashMap<>();
        final Map<Long, Look> looks = new HashMap<>();
        /** The peer that was taken out of the address vector, or -1. */
        int stranger = -1;
        final Map<Long, Receive> receives = new HashMap<>();
        final Map<Long, Message> sends = new HashMap<>();
        final boolean[] sendSlots = new boolean[SLOTS];
        final boolean[] receiveSlots = new boolean[SLOTS];
    }

    String where() {
        return "seed " + seed + ", " + events;
    }

    /** Any source, or one that the address vector has. */
    long source(int at) {
        int source = random.nextInt(models.size() * 3);
        return source < models.size() && source != models.get(at).stranger ? source : -1;
    }

    /** Peeks, claims, discards, and fetches what was claimed. */
    void look() {
        int at = random.nextInt(models.size());
        Model model = models.get(at);
        boolean known = !model.claimed.isEmpty() && random.nextInt(3) != 0;
        long context = known ? List.copyOf(model.claimed.keySet()).get(random.nextInt(model.claimed.size()))
            : nextId++;
        if (model.receives.containsKey(context)) {
            return;
        }
        boolean tagged = random.nextInt(4) != 0;
        if (random.nextInt(3) == 0) {
            Message message = model.claimed.get(context);
            fetch(at, message == null || random.nextInt(8) == 0 ? tagged : message.tagged, context,
                random.nextBoolean());
            return;
        }
        long[] asked = {0, Flags.CLAIM, Flags.CLAIM, Flags.DISCARD};
        peek(at, tagged, context, Flags.PEEK | asked[random.nextInt(asked.length)]);
    }

    void peek(int at, boolean tagged, long context, long flags) {
        Model model = models.get(at);
        Receive wanted = new Receive();
        wanted.tagged = tagged;
        wanted.tag = tagged ? random.nextInt(4) : 0;
        wanted.ignore = tagged && random.nextInt(3) == 0 ? random.nextInt(4) : 0;
        long source = source(at);
        wanted.source = rig.directed ? (int) source : Receive.ANY_SOURCE;
        Message found = model.matcher.find(wanted);
        boolean discards = (flags & Flags.DISCARD) != 0;
        boolean claims = (flags & Flags.CLAIM) != 0;
        int errno = claims && model.claimed.containsKey(context) ? FabricErrno.EBUSY
            : found == null ? FabricErrno.ENOMSG
            : claims && model.claimed.size() == rig.rxSize ? FabricErrno.ENOSPC : 0;
        int slot = discards || random.nextBoolean() ? -1 : slot(model.receiveSlots);
        int room = slot < 0 ? 0 : 1 + random.nextInt(MAX_LENGTH);
        Engines.Node node = rig.nodes.get(at);
        Look look = new Look(flags, found, errno, slot, room);
        if (!submit(at, look, context, slot < 0 ? discards ? -1 : 0 : node.buf(SEND_AREA + slot * MAX_LENGTH),
            discards ? -1 : room, source, wanted)) {
            return;
        }
        if (errno == 0 && (claims || discards)) {
            model.matcher.drop(found);
            found.matched |= discards;
            found.received |= discards;
            if (claims) {
                model.claimed.put(context, found);
            }
        }
    }

    void fetch(int at, boolean tagged, long context, boolean discards) {
        Model model = models.get(at);
        Message message = model.claimed.get(context);
        boolean valid = message != null && message.tagged == tagged;
        Receive receive = new Receive();
        receive.tagged = tagged;
        receive.tag = random.nextInt(4);
        if (!valid || discards) {
            Look look = new Look(
                Flags.CLAIM | (discards ? Flags.DISCARD : 0), message, valid ? 0 : FabricErrno.EINVAL, -1, 0);
            if (submit(at, look, context, 0, discards ? -5 : 0, -1, receive) && valid) {
                model.claimed.remove(context);
                message.matched = true;
                message.received = true;
            }
            return;
        }
        receive.context = context;
        receive.slot = slot(model.receiveSlots);
        receive.length = length();
        if (receive.slot < 0) {
            return;
        }
        Engines.Node node = rig.nodes.get(at);
        int result = node.receive(Flags.CLAIM | Flags.COMPLETION | (tagged ? Flags.TAGGED : Flags.MSG),
            node.buf(SEND_AREA + receive.slot * MAX_LENGTH), receive.length, 77, 77, 0, context);
        if (result != 0) {
            assertFull(at, result);
            model.receiveSlots[receive.slot] = false;
            return;
        }
        model.receives.put(context, receive);
        receive.message = model.claimed.remove(context);
        receive.message.matched = true;
    }

    /** Without FI_COMPLETION: such a receive has its entry all the same (AMB-48). */
    boolean submit(int at, Look look, long context, long buf, long length, long source, Receive wanted) {
        Model model = models.get(at);
        int result = rig.nodes.get(at).receive(look.flags | (wanted.tagged ? Flags.TAGGED : Flags.MSG), buf, length,
            source, wanted.tag, wanted.ignore, context);
        if (result == 0) {
            assertNull(model.looks.put(context, look), where());
            return true;
        }
        assertFull(at, result);
        if (look.slot >= 0) {
            model.receiveSlots[look.slot] = false;
        }
        return false;
    }

    void assertFull(int at, int result) {
        assertEquals(-FabricErrno.EAGAIN, result);
        assertEquals(rig.rxSize, rig.nodes.get(at).endpoint.receiver().outstanding(), where());
    }

    void looked(Engines.Node node, Model model, Look look, CompletionReader.Entry entry) {
        if (look.slot >= 0) {
            model.receiveSlots[look.slot] = false;
        }
        assertEquals(look.errno, entry.errno(), () -> entry + ", " + where());
        if (look.errno != 0) {
            return;
        }
        assertEquals(look.message.id, entry.data(), where());
        assertEquals(look.message.length, entry.length(), where());
        assertEquals(look.message.tagged ? look.message.tag : 0, entry.tag(), where());
        assertEquals(source(model, look.message), entry.source(), where());
        assertEquals(Flags.RECV | Flags.REMOTE_CQ_DATA | (look.message.tagged ? Flags.TAGGED : Flags.MSG),
            entry.flags(), where());
        long buf = look.slot >= 0 ? node.buf(SEND_AREA + look.slot * MAX_LENGTH) : 0;
        if (look.copied) {
            assertEquals(buf, entry.buf(), where());
            node.assertFilled(SEND_AREA + look.slot * MAX_LENGTH, Math.min(look.room, look.message.length),
                (int) look.message.id);
        } else {
            assertEquals(0, entry.buf(), where());
        }
    }

    static long source(Model model, Message message) {
        return message.from == model.stranger ? -1 : message.from;
    }

    int length() {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(65);
            default -> random.nextInt(MAX_LENGTH + 1);
        };
    }

    int slot(boolean[] slots) {
        for (int i = 0; i < slots.length; i++) {
            if (!slots[i]) {
                slots[i] = true;
                return i;
            }
        }
        return -1;
    }
}
