package org.jfabric.ffi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.SelectableChannel;

/**
 * The number of the descriptor behind a channel, which the JDK shows only where its internals are opened.
 */
public final class ChannelDescriptor {
    /** Option of the java command that {@link #of} needs. */
    public static final String FLAG = "--add-opens java.base/sun.nio.ch=ALL-UNNAMED";

    private static final String INTERNAL_PACKAGE = "sun.nio.ch";

    private ChannelDescriptor() {
    }

    /**
     * Checks whether this process was started with the option that makes the numbers readable. Returns true if {@link
     * #FLAG} was given.
     */
    public static boolean isAvailable() {
        return Object.class.getModule().isOpen(INTERNAL_PACKAGE, ChannelDescriptor.class.getModule());
    }

    /**
     * The number, valid while the channel is open.
     *
     * @return 0 or more.
     * @throws UnsupportedOperationException naming {@link #FLAG} if it is missing.
     */
    public static int of(SelectableChannel channel) {
        if (!isAvailable()) {
            throw new UnsupportedOperationException("the java command lacks " + FLAG);
        }
        try {
            Method getter = channel.getClass().getMethod("getFDVal");
            getter.setAccessible(true);
            return (int) getter.invoke(channel);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException changed) {
            throw new UnsupportedOperationException(
                channel.getClass() + " of this JDK does not show its descriptor", changed);
        }
    }
}
