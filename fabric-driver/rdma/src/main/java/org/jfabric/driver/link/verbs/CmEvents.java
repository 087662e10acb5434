package org.jfabric.driver.link.verbs;

import org.agrona.LangUtil;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;

import java.util.ArrayList;
import java.util.List;

/**
 * The events of the connection manager. They are read on the resource thread, as is every call on an identifier. When
 * the library reads a peer's answer it brings the queue pair up, by commands that may take a card a millisecond. It
 * uses the identifier and its queue pair during that time, so neither may be destroyed then.
 *
 * <p>Owner: progress agent. Events are dispatched in its next poll, in order with the other results of the resource
 * thread: an identifier that was destroyed gets no event, even if a new one has the same address.
 */
final class CmEvents {
    /** 0.64 ms, as libfabric's verbs provider sets it; the connection manager's own is 655 ms. */
    private static final int RNR_TIMER = 12;

    private final VerbsLink link;
    private final LinkServices services;
    private final VerbsLibraries libraries;
    private final long channel;
    /** The read that is in progress; null if there is none. */
    private Taking taking;

    CmEvents(VerbsLink link, VerbsLibraries libraries, long channel) {
        this.link = link;
        this.services = link.services();
        this.libraries = libraries;
        this.channel = channel;
    }

    /** Reads the events that are pending, on the resource thread. */
    void take() {
        if (taking == null) {
            taking = new Taking();
            services.submit(taking);
        }
    }

    /**
     * The driver has closed, and the events that were read are not dispatched: the identifiers of their connection
     * requests are destroyed. Resource thread.
     */
    void free() {
        if (taking != null) {
            for (RdmaCm.CmEvent event : taking.taken) {
                if (event.type() == VerbsConstants.CM_CONNECT_REQUEST) {
                    libraries.cm().destroyId(event.id());
                }
            }
        }
        libraries.cm().destroyEventChannel(channel);
    }

    /** Reads all pending events. */
    private final class Taking extends ResourceTask {
        private final List<RdmaCm.CmEvent> taken = new ArrayList<>();

        @Override
        protected void execute() {
            RdmaCm cm = libraries.cm();
            for (RdmaCm.CmEvent event = cm.takeEvent(channel); event != null; event = cm.takeEvent(channel)) {
                taken.add(event);
                if (event.type() == VerbsConstants.CM_ESTABLISHED) {
                    // before the first send: a peer that finds no posted receive waits for this time
                    libraries.ibverbs().modifyRnrTimer(cm.queuePair(event.id()), RNR_TIMER);
                }
            }
        }

        @Override
        protected void onDone() {
            if (link.isClosed()) {
                return;
            }
            taking = null;
            Throwable failure = null;
            for (RdmaCm.CmEvent event : taken) {
                try {
                    link.onEvent(event);
                } catch (RuntimeException | Error e) {
                    // the events behind it belong to other connections and are not delivered again
                    failure = failure == null ? e : failure;
                }
            }
            if (failure != null) {
                LangUtil.rethrowUnchecked(failure);
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            services.onError(cause);
            onDone();
        }
    }
}
