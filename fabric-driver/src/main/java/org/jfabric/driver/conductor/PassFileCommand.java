package org.jfabric.driver.conductor;

import org.jfabric.codec.control.Done;

/** The client passes a descriptor over its socket as soon as this is answered. Owner: conductor. */
final class PassFileCommand extends Command {
    PassFileCommand(CommandRequest request) {
        super(request);
    }

    @Override
    protected Step step(long nowNs) {
        session().passedFile().expect();
        return answer(new Done(correlationId()));
    }
}
