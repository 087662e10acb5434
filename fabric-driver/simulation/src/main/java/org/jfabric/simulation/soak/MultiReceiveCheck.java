package org.jfabric.simulation.soak;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** Checks the entries of multi-receive buffers: one for each message, in address order, then the release. */
final class MultiReceiveCheck {
    private final SoakWorld world;

    MultiReceiveCheck(SoakWorld world) {
        this.world = world;
    }

    /** An entry with the context of a buffer that has not been released. */
    void onEntry(SoakEndpoint at, SoakReceive buffer, SoakEntry entry) {
        if (entry.flags() == Flags.MULTI_RECV) {
            onRelease(at, buffer, entry);
            return;
        }
        world.check(buffer.mustFailWith == 0, () -> buffer + " should have failed: " + entry);
        world.check(buffer.wantsEntry || entry.errno() != 0, () -> buffer + " wants no entry: " + entry);
        int offset = (int) (entry.buf() - at.memory.at(0));
        int behind = behind(buffer);
        world.check(entry.errno() == 0 || entry.errno() == FabricErrno.ETRUNC && behind == buffer.offset,
            () -> "unexpected error: " + entry + " in " + buffer);
        world.check(offset >= behind && offset + entry.length() <= buffer.offset + buffer.length,
            () -> entry + " is at offset " + offset + ", the free part begins at " + behind + " of " + buffer);
        SoakPart part = new SoakPart(offset, (int) entry.length(), entry);
        buffer.parts.add(part);
        world.packed += buffer.parts.size() > 1 ? 1 : 0;
        long id = (entry.flags() & Flags.REMOTE_CQ_DATA) != 0 ? entry.data()
            : part.length >= Long.BYTES ? at.memory.idAt(offset) : 0;
        if (id != 0) {
            identify(at, buffer, part, id);
        }
    }

    /** Sets the message of a part and checks its bytes. */
    void identify(SoakEndpoint at, SoakReceive buffer, SoakPart part, long id) {
        part.message = world.markReceived(buffer, id);
        verify(at, buffer, part);
    }

    private void onRelease(SoakEndpoint at, SoakReceive buffer, SoakEntry entry) {
        int errno = entry.errno();
        world.check(buffer.mustFailWith != 0 ? errno == buffer.mustFailWith
            : errno == 0 || buffer.cancelRequested && errno == FabricErrno.ECANCELED,
            () -> "released with " + entry + ": " + buffer);
        buffer.ended = true;
        buffer.entry = entry;
        buffer.endedStep = world.step;
        if (buffer.slot != null && !buffer.wantsEntry) {
            findSilent(at, buffer);
        }
        if (buffer.parts.stream().allMatch(part -> part.message != null)) {
            giveBack(at, buffer);
        }
    }

    /** Finds messages without entries by the ids at their begin; each has at least the bytes of an id. */
    private void findSilent(SoakEndpoint at, SoakReceive buffer) {
        int offset = behind(buffer);
        while (offset + Long.BYTES <= buffer.offset + buffer.length && at.memory.idAt(offset) != 0) {
            SoakMessage message = world.markReceived(buffer, at.memory.idAt(offset));
            SoakPart part = new SoakPart(offset, message.length, null);
            part.message = message;
            buffer.parts.add(part);
            world.packed += buffer.parts.size() > 1 ? 1 : 0;
            world.check(offset + message.length <= buffer.offset + buffer.length,
                () -> message + " was truncated without an entry in " + buffer);
            verify(at, buffer, part);
            offset = behind(buffer);
        }
    }

    /** Where the next message of a buffer has to begin. */
    private static int behind(SoakReceive buffer) {
        if (buffer.parts.isEmpty()) {
            return buffer.offset;
        }
        SoakPart last = buffer.parts.getLast();
        return buffer.offset + buffer.usedAfter(last.offset - buffer.offset, last.length);
    }

    private void verify(SoakEndpoint at, SoakReceive buffer, SoakPart part) {
        int differs = part.length == 0 ? -1 : at.memory.firstDifference(part.offset, part.length, part.message.id);
        world.check(differs < 0, () -> "byte " + differs + " of " + part + " differs in " + buffer);
    }

    /** Checks all of a released buffer: its messages are unchanged, and nothing around them was written. */
    void giveBack(SoakEndpoint at, SoakReceive buffer) {
        if (buffer.slot == null) {
            return;
        }
        for (SoakPart part : buffer.parts) {
            verify(at, buffer, part);
        }
        for (SoakPart part : buffer.parts) {
            at.memory.restore(part.offset, part.length);
        }
        int overwritten = at.memory.firstOverwritten(buffer.slot, buffer.offset, 0);
        int end = buffer.parts.isEmpty() ? buffer.offset : behind(buffer);
        int between = overwritten >= 0 ? overwritten : at.memory.firstOverwritten(buffer.offset, end);
        int last = between >= 0 ? between : at.memory.firstOverwrittenBehind(buffer.slot, end);
        world.check(last < 0, () -> "byte " + (last - buffer.offset) + " outside of all messages was overwritten: "
            + buffer);
        at.memory.free(buffer.slot);
        buffer.slot = null;
    }
}
