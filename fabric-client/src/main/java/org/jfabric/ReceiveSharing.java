package org.jfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.Invoker;
import org.jfabric.client.UseGuard;
import org.jfabric.client.UseLock;
import org.jfabric.info.RxAttr;

/**
 * What makes an {@link Endpoint} a shared receive context: the endpoints that use it, and credit without a limit,
 * because the driver takes the slot of an entry when a message is there.
 *
 * <p>Owner: control calls, under the fabric's lock; the credit as for a completion queue.
 */
final class ReceiveSharing {
    private final RxAttr attr;
    private final List<Endpoint> endpoints = new ArrayList<>();
    /** Nothing is ever retired here; the credit reads a word all the same. */
    private final MemorySegment retired = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    private final CompletionCredits credits;
    private AddressVector addressVector;

    ReceiveSharing(RxAttr attr, Invoker invoker, boolean locks) {
        this.attr = attr;
        UseGuard guard = invoker != null && !locks ? invoker.guard()
            : new UseGuard("submission to a shared receive context");
        UseLock lock = !locks ? null : invoker != null ? invoker.lock() : new UseLock();
        this.credits = new CompletionCredits(CompletionCredits.UNLIMITED, retired.address(), guard, lock);
    }

    /** With an embedded driver: threads that post are kept apart from now on. */
    void startLocking(Invoker invoker) {
        credits.startLocking(invoker.lock());
    }

    RxAttr attr() {
        return attr;
    }

    List<Endpoint> endpoints() {
        return endpoints;
    }

    CompletionCredits credits() {
        return credits;
    }

    /** The address vector that all its connectionless endpoints have; null before the first is enabled. */
    AddressVector addressVector() {
        return addressVector;
    }

    void onEnabled(AddressVector ofEndpoint) {
        addressVector = ofEndpoint;
    }

    void remove(Endpoint endpoint) {
        endpoints.remove(endpoint);
        if (endpoints.isEmpty()) {
            addressVector = null;
        }
    }
}
