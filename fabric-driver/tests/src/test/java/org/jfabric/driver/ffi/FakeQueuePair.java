package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

import java.util.ArrayDeque;
import java.util.stream.Stream;

/** A reliable queue pair in memory. */
final class FakeQueuePair {
    /** A work request. */
    record Work(
        long id, int opcode, boolean isSignaled, int immediate, long[] pieces, long remote, int rkey, long compareAdd,
        long swap) {
        int length() {
            int length = 0;
            for (int i = 1; i < pieces.length; i += 3) {
                length += (int) pieces[i];
            }
            return length;
        }

        boolean uses(int key) {
            for (int i = 2; i < pieces.length; i += 3) {
                if (pieces[i] == key) {
                    return true;
                }
            }
            return false;
        }
    }

    final long pointer = NativeMemory.allocate(VerbsLayout.QP_SIZE);
    final ArrayDeque<Work> receives = new ArrayDeque<>();
    /** Sends that wait for a receive of the peer. */
    final ArrayDeque<Work> sends = new ArrayDeque<>();
    final FakeDataPath owner;
    final long queue;
    final int maxSends;
    final int maxReceives;
    /** The shared queue that receives are taken from; null if the pair has its own. */
    final FakeSharedQueues.Queue shared;
    final int number;
    private FakeQueuePair peer;
    private boolean isBroken;

    FakeQueuePair(
        FakeDataPath owner, long queue, RdmaCm.QueueDepths depths, FakeSharedQueues.Queue shared, int number) {
        this.owner = owner;
        this.queue = queue;
        this.maxSends = depths.sends();
        this.maxReceives = depths.receives();
        this.shared = shared;
        this.number = number;
        UnsafeApi.putInt(pointer + VerbsLayout.QP_NUMBER, number);
        UnsafeApi.putInt(pointer + VerbsLayout.QP_TYPE, VerbsConstants.QPT_RC);
        UnsafeApi.putInt(pointer + VerbsLayout.QP_STATE, VerbsConstants.QPS_INIT);
        if (shared != null) {
            shared.add(this);
        }
    }

    /** A receive is there for the peer's sends. */
    void peerMoves() {
        if (peer != null) {
            peer.move();
        }
    }

    void connect(FakeQueuePair other) {
        peer = other;
        other.peer = this;
    }

    /** Whether a connection was made. */
    boolean isConnected() {
        return peer != null;
    }

    /** Destroyed: nothing reaches its memory any more. */
    void end() {
        isBroken = true;
        receives.clear();
        sends.clear();
    }

    /** Into the error state: everything comes back. */
    void fail() {
        isBroken = true;
        if (!owner.holdsFlushes) {
            flush();
        }
    }

    /** Returns true if an outstanding request uses memory with a key. */
    boolean uses(int key) {
        return Stream.concat(sends.stream(), receives.stream()).anyMatch(work -> work.uses(key));
    }

    private void flush() {
        receives.forEach(work -> owner.complete(this, work.id(), VerbsConstants.WC_WR_FLUSH_ERR, 0, 0, 0, 0));
        receives.clear();
        sends.forEach(work -> owner.complete(this, work.id(), VerbsConstants.WC_WR_FLUSH_ERR, 0, 0, 0, 0));
        sends.clear();
    }

    void send(Work work) {
        if (isBroken) {
            owner.complete(this, work.id(), VerbsConstants.WC_WR_FLUSH_ERR, 0, 0, 0, 0);
            return;
        }
        if (owner.nextStatus != 0) {
            owner.complete(this, work.id(), owner.nextStatus, 0, owner.nextVendorError, 0, 0);
            owner.nextStatus = 0;
            fail();
            return;
        }
        sends.add(work);
        move();
    }

    void receive(Work work) {
        if (isBroken) {
            owner.complete(this, work.id(), VerbsConstants.WC_WR_FLUSH_ERR, 0, 0, 0, 0);
            return;
        }
        receives.add(work);
        peerMoves();
    }

    /** Does what can be done now, in order. */
    void move() {
        if (isBroken && !owner.holdsFlushes) {
            flush();
        }
        while (!sends.isEmpty() && !owner.holdsSends && !isBroken) {
            Work work = sends.peek();
            int status = switch (work.opcode()) {
                case VerbsConstants.WR_RDMA_READ -> read(work);
                case VerbsConstants.WR_RDMA_WRITE, VerbsConstants.WR_RDMA_WRITE_WITH_IMM -> write(work);
                case VerbsConstants.WR_ATOMIC_CMP_AND_SWP, VerbsConstants.WR_ATOMIC_FETCH_AND_ADD -> change(work);
                default -> deliver(work);
            };
            if (status < 0) {
                return;
            }
            sends.poll();
            if (status != VerbsConstants.WC_SUCCESS) {
                owner.complete(this, work.id(), status, 0, 0x77, 0, 0);
                fail();
                peer.fail();
            } else if (work.isSignaled()) {
                owner.complete(this, work.id(), VerbsConstants.WC_SUCCESS, 0, 0, 0, 0);
            }
        }
    }

    private int read(Work work) {
        if (peer.isBroken) {
            return VerbsConstants.WC_RETRY_EXC_ERR;
        }
        if (work.length() != 0 && !mayAccess(work, VerbsConstants.ACCESS_REMOTE_READ)) {
            return VerbsConstants.WC_REM_ACCESS_ERR;
        }
        long from = work.remote();
        for (int i = 0; i < work.pieces().length; i += 3) {
            UnsafeApi.copyMemory(from, work.pieces()[i], work.pieces()[i + 1]);
            from += work.pieces()[i + 1];
        }
        return VerbsConstants.WC_SUCCESS;
    }

    private boolean mayAccess(Work work, int right) {
        long domain = UnsafeApi.getLong(peer.pointer + VerbsLayout.QP_PD);
        return peer.owner.mayAccess(work.rkey(), domain, right, work.remote(), work.length());
    }

    /** A status, or -1 while the peer has no receive for the immediate data. */
    private int write(Work work) {
        if (peer.isBroken) {
            return VerbsConstants.WC_RETRY_EXC_ERR;
        }
        if (work.length() != 0 && !mayAccess(work, VerbsConstants.ACCESS_REMOTE_WRITE)) {
            return VerbsConstants.WC_REM_ACCESS_ERR;
        }
        boolean hasData = work.opcode() == VerbsConstants.WR_RDMA_WRITE_WITH_IMM;
        Work receive = hasData ? peer.takeReceive() : null;
        if (hasData && receive == null) {
            peer.owner.notReady++;
            return -1;
        }
        long to = work.remote();
        for (int i = 0; i < work.pieces().length; i += 3) {
            UnsafeApi.copyMemory(work.pieces()[i], to, work.pieces()[i + 1]);
            to += work.pieces()[i + 1];
        }
        if (hasData) {
            peer.owner.complete(peer, receive.id(), VerbsConstants.WC_SUCCESS, VerbsConstants.WC_RECV_RDMA_WITH_IMM,
                0, work.length(), VerbsConstants.WC_WITH_IMM, work.immediate());
        }
        return VerbsConstants.WC_SUCCESS;
    }

    /** Its memory must be of the pair's domain, also if it is shared: so it is with Soft-RoCE. */
    private Work takeReceive() {
        Work receive = (shared == null ? receives : shared.receives).poll();
        long domain = UnsafeApi.getLong(pointer + VerbsLayout.QP_PD);
        if (receive != null && !owner.isOf((int) receive.pieces()[2], domain)) {
            throw new AssertionError("a receive in memory of another protection domain");
        }
        return receive;
    }

    /** An atomic operation. */
    private int change(Work work) {
        if (peer.isBroken) {
            return VerbsConstants.WC_RETRY_EXC_ERR;
        }
        if (!mayAccess(work, VerbsConstants.ACCESS_REMOTE_ATOMIC)) {
            return VerbsConstants.WC_REM_ACCESS_ERR;
        }
        long old = UnsafeApi.getLong(work.remote());
        UnsafeApi.putLong(work.pieces()[0], old);
        if (work.opcode() == VerbsConstants.WR_ATOMIC_FETCH_AND_ADD) {
            UnsafeApi.putLong(work.remote(), old + work.compareAdd());
        } else if (old == work.compareAdd()) {
            UnsafeApi.putLong(work.remote(), work.swap());
        }
        return VerbsConstants.WC_SUCCESS;
    }

    /** A status, or -1 while the peer has no receive. */
    private int deliver(Work work) {
        if (peer.isBroken) {
            return -1;
        }
        Work receive = peer.takeReceive();
        if (receive == null) {
            peer.owner.notReady++;
            return -1;
        }
        int length = work.length();
        if (length > receive.length()) {
            peer.owner.complete(peer, receive.id(), 1, 0, 0, 0, 0);
            return VerbsConstants.WC_REM_INV_REQ_ERR;
        }
        long to = receive.pieces()[0];
        for (int i = 0; i < work.pieces().length; i += 3) {
            UnsafeApi.copyMemory(work.pieces()[i], to, work.pieces()[i + 1]);
            to += work.pieces()[i + 1];
        }
        boolean hasData = work.opcode() == VerbsConstants.WR_SEND_WITH_IMM;
        peer.owner.complete(peer, receive.id(), VerbsConstants.WC_SUCCESS, VerbsConstants.WC_RECV, 0, length,
            hasData ? VerbsConstants.WC_WITH_IMM : 0, work.immediate());
        return VerbsConstants.WC_SUCCESS;
    }
}
