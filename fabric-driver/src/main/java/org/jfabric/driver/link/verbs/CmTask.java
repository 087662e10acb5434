package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;

import java.util.function.IntConsumer;
import java.util.function.IntSupplier;

/**
 * Something that the connection manager is asked to do, on the resource thread: calls that change a queue pair's state
 * are commands to the card, which would hold up the messages of all other peers.
 */
final class CmTask extends ResourceTask {
    private final LinkServices services;
    private final IntSupplier call;
    private final IntConsumer answer;
    private int result;

    private CmTask(LinkServices services, IntSupplier call, IntConsumer answer) {
        this.services = services;
        this.call = call;
        this.answer = answer;
    }

    /**
     * Has it done.
     *
     * @param call   result, usually 0 or negative errno; resource thread.
     * @param answer told what the call has returned, -FI_EIO if it has thrown; progress agent.
     */
    static void submit(LinkServices services, IntSupplier call, IntConsumer answer) {
        services.submit(new CmTask(services, call, answer));
    }

    /** The same where nobody waits for the answer. */
    static void submit(LinkServices services, Runnable call) {
        submit(services, () -> {
            call.run();
            return 0;
        }, result -> { });
    }

    @Override
    protected void execute() {
        result = call.getAsInt();
    }

    @Override
    protected void onDone() {
        answer.accept(result);
    }

    @Override
    protected void onFailed(Throwable cause) {
        services.onError(cause);
        answer.accept(-FabricErrno.EIO);
    }
}
