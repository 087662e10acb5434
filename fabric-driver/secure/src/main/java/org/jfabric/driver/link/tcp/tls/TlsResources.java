package org.jfabric.driver.link.tcp.tls;

import java.util.ArrayDeque;
import javax.net.ssl.SSLEngine;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.support.HandshakeTasks;
import org.jfabric.driver.link.tcp.StreamSecurity;
import org.jfabric.driver.link.tcp.TcpPort;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.info.FabricException;

/**
 * What the encrypted connections of a link have in common: the driver's identity, buffers of connections that are not
 * in use, and native memory through which bytes go to and come from the system.
 *
 * <p>Owner: progress agent; the identity is for any thread.
 */
public final class TlsResources implements StreamSecurity {
    private static final int KEPT = 64;

    private final TlsIdentity identity;
    private final AccessList access;
    private final ArrayDeque<TlsBuffers> free = new ArrayDeque<>();
    private final long scratch = UnsafeApi.allocateMemory(TlsBuffers.WIRE_BYTES);
    private final HandshakeTasks tasks;
    private int taken;

    /**
     * Without buffers.
     *
     * @param access the peers that are admitted, null for all with a trusted key.
     */
    TlsResources(LinkServices services, TlsIdentity identity, AccessList access) {
        this(new HandshakeTasks(services), identity, access);
    }

    private TlsResources(HandshakeTasks tasks, TlsIdentity identity, AccessList access) {
        this.tasks = tasks;
        this.identity = identity;
        this.access = access;
    }

    /** Makes the engine of a connection by the newest files; a resource thread. */
    SSLEngine engine(boolean isClient) {
        if (access != null) {
            access.refresh();
        }
        return identity.engine(isClient);
    }

    @Override
    public TlsPort secured(TcpPort socket, boolean isClient) {
        return new TlsPort(socket, this, isClient);
    }

    @Override
    public TlsResources another() {
        return new TlsResources(tasks, identity, access);
    }

    @Override
    public HandshakeTasks tasks() {
        return tasks;
    }

    @Override
    public FabricException takeProblem() {
        return identity.takeProblem();
    }

    /** Native memory of {@link TlsBuffers#WIRE_BYTES}, which keeps nothing from one call to the next. */
    long scratch() {
        return scratch;
    }

    /** Number of buffers in use. */
    public int taken() {
        return taken;
    }

    TlsBuffers take() {
        taken++;
        TlsBuffers kept = free.pollLast();
        return kept == null ? new TlsBuffers() : kept;
    }

    void give(TlsBuffers buffers) {
        taken--;
        if (free.size() < KEPT) {
            buffers.clear();
            free.addLast(buffers);
        }
    }

    @Override
    public void close() {
        UnsafeApi.freeMemory(scratch);
    }
}
