package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.late.LateFault;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** One access to remote memory, one {@link LateFault}: what both sides see. In a loader of its own. */
public final class RemoteRigFaults {
    private static final long KEY = 77;
    private static final int GUARD = 4096;
    private static final int CYCLES = 40;

    private final RemoteRig rig;
    private final RemoteRig.Node initiator;
    private final RemoteRig.Node target;
    private final RemoteRig.Exposed region;
    private final long toTarget;
    private String wrong = "";

    private RemoteRigFaults(boolean isShm, boolean isStrict) {
        rig = new RemoteRig(isShm, 0, isStrict, 64);
        initiator = rig.add("i");
        target = rig.add("t");
        region = target.expose(KEY, RemoteRig.MEMORY);
        toTarget = initiator.to(target);
        for (int i = 0; i < RemoteRig.MEMORY; i++) {
            UnsafeApi.putByte(initiator.memory + i, (byte) (i * 7 + (i >> 8)));
        }
    }

    /** Nobody's file is cut: each access has one entry, and later ones work. */
    public static String access(boolean isShm, boolean isStrict, String kind, int length, int calls) {
        return access(isShm, isStrict, kind, length, calls, false);
    }

    /** The same, but the bytes are read and cannot be placed. */
    public static String placement(boolean isShm, boolean isStrict, String kind, int length, int calls) {
        return access(isShm, isStrict, kind, length, calls, isShm);
    }

    private static String access(
        boolean isShm, boolean isStrict, String kind, int length, int calls, boolean isSecondCopy) {
        // over shm the bytes are copied twice: the second time at the side that places them
        return access(isShm, isStrict, kind, length, () -> LateFault.arm(isSecondCopy ? copies(length) : 0, calls));
    }

    /** The same, but it is another access that fails, at some point of this one. */
    public static String accessBesideFault(boolean isShm, boolean isStrict, String kind, int length, int points) {
        return access(isShm, isStrict, kind, length, () -> LateFault.failAtPoint(points));
    }

    private static String access(boolean isShm, boolean isStrict, String kind, int length, Runnable arm) {
        RemoteRigFaults run = new RemoteRigFaults(isShm, isStrict);
        run.connect();
        arm.run();
        run.post(kind, length, 2);
        run.rig.steps(CYCLES);
        String place = LateFault.place();
        LateFault.disarm();
        run.rig.steps(CYCLES);
        List<CompletionReader.Entry> own = run.ended(List.of(2L));
        run.reports(kind, own);
        run.finish(length);
        return run.wrong.isEmpty() ? "" : run.wrong + "raised at " + place;
    }

    /** What is posted between the fault and the recovery ends once, too. */
    public static String accessBeforeRecovery(boolean isShm, boolean isStrict, String kind, int length, int calls) {
        RemoteRigFaults run = new RemoteRigFaults(isShm, isStrict);
        run.connect();
        LateFault.arm(calls);
        for (long context = 2; context < 5; context++) {
            run.post(kind, length, context);
        }
        run.rig.steps(CYCLES);
        String place = LateFault.place();
        LateFault.disarm();
        run.rig.steps(CYCLES);
        run.ended(List.of(2L, 3L, 4L));
        run.target.completions.takeAll();
        run.finish(length);
        return run.wrong.isEmpty() ? "" : run.wrong + "raised at " + place;
    }

    /** Of the first frame, which is copied in two parts if it is longer than a line. */
    private static int copies(int length) {
        return length > 64 ? 2 : 1;
    }

    private void connect() {
        post("write", 8, 1);
        for (int i = 0; i < 1000 && initiator.endpoint.outstandingSends() != 0; i++) {
            rig.steps(1);
        }
        ended(List.of(1L));
    }

    private void post(String kind, int length, long context) {
        long flags = kind.equals("read") ? Flags.READ : Flags.WRITE;
        flags |= kind.equals("data") ? Flags.REMOTE_CQ_DATA : 0;
        int result = kind.equals("vector")
            ? initiator.access(
                flags, new long[] {initiator.buf(0), length / 2, initiator.buf(length / 2), length - length / 2},
                toTarget, GUARD, KEY, 0, context)
            : initiator.access(flags, kind.equals("read") ? RemoteRig.MEMORY / 2 : 0, length, toTarget, GUARD, KEY, 99,
                context);
        wrong += result == 0 ? "" : "posting answered " + result + "; ";
    }

    private List<CompletionReader.Entry> ended(List<Long> contexts) {
        List<CompletionReader.Entry> entries = new ArrayList<>(initiator.completions.takeAll());
        if (!entries.stream().map(CompletionReader.Entry::context).sorted().toList().equals(contexts)
            || entries.stream().anyMatch(entry -> entry.errno() != 0 && entry.errno() != FabricErrno.EIO)) {
            wrong += entries + " instead of one entry of each of " + contexts + "; ";
        }
        return entries;
    }

    /** A write that has succeeded was reported, and none twice. */
    private void reports(String kind, List<CompletionReader.Entry> own) {
        int reports = target.completions.takeAll().size();
        boolean succeeded = own.size() == 1 && own.getFirst().errno() == 0;
        if (reports > (kind.equals("data") ? 1 : 0) || kind.equals("data") && succeeded && reports == 0) {
            wrong += reports + " reports; ";
        }
    }

    /** Nothing is left of it: both directions work, and no byte outside of the range was written. */
    private void finish(int length) {
        post("data", length, 50);
        rig.steps(CYCLES);
        List<CompletionReader.Entry> last = ended(List.of(50L));
        reports("data", last);
        post("read", length, 51);
        rig.steps(CYCLES);
        last.addAll(ended(List.of(51L)));
        wrong += last.stream().allMatch(entry -> entry.errno() == 0) ? "" : "later accesses failed; ";
        byte[] seen = region.bytes(GUARD, length);
        for (int i = 0; i < length; i++) {
            if (seen[i] != (byte) (i * 7 + (i >> 8))) {
                wrong += "byte " + i + " differs; ";
                break;
            }
        }
        byte[] untouched = new byte[GUARD];
        Arrays.fill(untouched, RemoteRig.UNTOUCHED);
        wrong += Arrays.equals(untouched, region.bytes(0, GUARD))
            && Arrays.equals(untouched, region.bytes(GUARD + length, GUARD)) ? "" : "bytes outside were written; ";
        wrong += initiator.endpoint.outstandingSends() == 0 ? "" : "an operation is outstanding; ";
        wrong += rig.logged().isEmpty() ? "" : rig.logged() + "; ";
        rig.close();
    }
}
