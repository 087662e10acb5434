package org.jfabric.driver.link;

/**
 * Addresses of the contexts of a scalable endpoint, which only drivers know: the address of the endpoint, a mark that
 * no name has, and the kind and the index of the context. Receive context 0 has the address of the endpoint itself, so
 * that messages which name no context arrive there, also those of peers that know nothing of contexts. The writer of a
 * group has such an address for each group, too.
 */
public final class ContextName {
    /** Transmit contexts, and receive contexts, that one endpoint has at most. */
    public static final int MAX_CONTEXTS = 64;

    /** Characters that a context adds to the name of its endpoint, at most. */
    public static final int MAX_LENGTH = 5;

    private static final char MARK = '#';

    private ContextName() {
    }

    /**
     * The name or address of a receive context.
     *
     * @param endpoint name or address of the scalable endpoint.
     * @param index    from 0.
     * @return of index 0 that of the endpoint.
     */
    public static String receive(String endpoint, int index) {
        return index == 0 ? endpoint : endpoint + MARK + "rx" + index;
    }

    /**
     * The name of a receive context that peers cannot name.
     *
     * @param index    from 0.
     * @return of index 0 that of the endpoint.
     */
    public static String hidden(String endpoint, int index) {
        return index == 0 ? endpoint : endpoint + MARK + "x" + index;
    }

    /**
     * The name of a transmit context.
     *
     * @param index    from 0.
     */
    public static String transmit(String endpoint, int index) {
        return endpoint + MARK + "tx" + index;
    }

    /**
     * The address by which a reader of a group knows the writer, apart from that endpoint's own channel. Returns an
     * address that no endpoint and no context has.
     */
    public static String writer(String writer, String group) {
        return endpoint(writer) + MARK + group;
    }

    /**
     * The name or address of the endpoint, which applications know.
     *
     * @param any of an endpoint or a context.
     * @return the same object if it is that of no context.
     */
    public static String endpoint(String any) {
        int mark = any.indexOf(MARK);
        return mark < 0 ? any : any.substring(0, mark);
    }
}
