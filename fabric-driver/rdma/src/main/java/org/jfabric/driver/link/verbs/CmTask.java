package org.jfabric.driver.link.verbs;

import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;

/**
 * A call of the connection manager on the resource thread: calls that change a queue pair's state are commands to the
 * card, which would delay the messages of all other peers.
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
     * Submits a call.
     *
     * @param call   result, usually 0 or negative errno; resource thread.
     * @param answer takes the result of the call, -FI_EIO if it has thrown; progress agent.
     */
    static void submit(LinkServices services, IntSupplier call, IntConsumer answer) {
        services.submit(new CmTask(services, call, answer));
    }

    /** Submits a call without a result. */
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
