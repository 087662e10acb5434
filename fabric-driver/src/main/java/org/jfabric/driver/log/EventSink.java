package org.jfabric.driver.log;

/** Where events go. */
interface EventSink {
    /**
     * Takes an event, at once and without waiting for anything slow.
     *
     * @param clientId number of the client, 0 if it concerns none.
     * @param objectId number of the client's object, 0 if it concerns none.
     * @param text     a name or a sentence, may be empty.
     */
    void write(EventKind kind, long clientId, long objectId, long first, long second, String text);
}
