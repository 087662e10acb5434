package org.jfabric.driver.link.scripted;

/** Sees what scripted links are about to tell an engine; for models that need the order of arrival. */
public interface Observer {
    /** Sees nothing. */
    Observer NONE = new Observer() {
        @Override
        public void onArrival(String local, String remote, long flags, long tag, long data, boolean whole) {
        }

        @Override
        public void onWhole(String local, String remote, long data) {
        }

        @Override
        public void onAborted(String local, String remote, long data) {
        }

        @Override
        public void onEnd(String local, String remote) {
        }
    };

    /**
     * A message arrives.
     *
     * @param local  address of the receiver.
     * @param remote address of the sender.
     * @param flags  its kind.
     * @param tag    its tag.
     * @param data   its remote CQ data.
     * @param whole  whether its payload is there, too.
     */
    void onArrival(String local, String remote, long flags, long tag, long data, boolean whole);

    /**
     * The payload of a streamed message has arrived.
     *
     * @param local  address of the receiver.
     * @param remote address of the sender.
     * @param data   its remote CQ data.
     */
    void onWhole(String local, String remote, long data);

    /**
     * The payload of a streamed message will not arrive.
     *
     * @param local  address of the receiver.
     * @param remote address of the sender.
     * @param data   its remote CQ data.
     */
    void onAborted(String local, String remote, long data);

    /**
     * A channel ends at one of its ends.
     *
     * @param local  address of that end.
     * @param remote address of the other.
     */
    void onEnd(String local, String remote);
}
