package org.jfabric.driver.conductor;

/** The client passes a descriptor over its socket as soon as this is answered. Owner: conductor. */
final class PassFileCommand extends Command {
    /**
     * Takes the command, which has no arguments.
     *
     * @param request as it arrived; not kept.
     */
    PassFileCommand(CommandRequest request) {
        super(request);
    }

    @Override
    protected Step step(long nowNs) {
        session().passedFile().expect();
        session().proxy().done(correlationId());
        return Step.ENDED;
    }
}
