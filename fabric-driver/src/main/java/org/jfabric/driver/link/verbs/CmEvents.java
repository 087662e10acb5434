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
 * The events of the connection manager. They are taken on the resource thread, where all that concerns identifiers is
 * done: to take a peer's answer is to bring the queue pair up, by commands that a card may need a millisecond for, and
 * the library looks at the identifier and its queue pair meanwhile, which nobody may give back then.
 *
 * <p>Owner: progress agent. Events are told in its next poll, in the order of what else the resource thread has done:
 * an identifier that was given back is told of nothing, also where a new one has its address.
 */
final class CmEvents {
    /** 0.64 ms, as libfabric's verbs provider sets it; the connection manager's own is 655 ms. */
    private static final int RNR_TIMER = 12;

    private final VerbsLink link;
    private final LinkServices services;
    private final VerbsLibraries libraries;
    private final long channel;
    /** Under way; null if nobody looks. */
    private Taking taking;

    CmEvents(VerbsLink link, VerbsLibraries libraries, long channel) {
        this.link = link;
        this.services = link.services();
        this.libraries = libraries;
        this.channel = channel;
    }

    /** There are some. */
    void take() {
        if (taking == null) {
            taking = new Taking();
            services.submit(taking);
        }
    }

    /** The driver has ended, and nobody was told of these: who has asked meanwhile is not answered. Resource thread. */
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

    /** Takes what is there. */
    private final class Taking extends ResourceTask {
        private final List<RdmaCm.CmEvent> taken = new ArrayList<>();

        @Override
        protected void execute() {
            RdmaCm cm = libraries.cm();
            for (RdmaCm.CmEvent event = cm.takeEvent(channel); event != null; event = cm.takeEvent(channel)) {
                taken.add(event);
                if (event.type() == VerbsConstants.CM_ESTABLISHED) {
                    // before anybody sends: a peer that finds no receive waits for as long as this says
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
                    // those behind it are of other connections, and nobody tells of them again
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
