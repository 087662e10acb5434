package org.jfabric.info;

/**
 * A control-path call failed; carries the fabric errno and says what was seen, what was needed and what to do.
 *
 * <pre>{@code
 * try {
 *     peers.insert("jfabric://desk/orders");
 * } catch (FabricException refused) {
 *     System.err.println(FabricErrno.name(refused.errno()) + ": " + refused.getMessage());
 * }
 * }</pre>
 *
 * <p>Data-path calls never throw it, they return the negative errno.
 */
public class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * Failure whose remedy is the general one of its code.
     *
     * @param errno positive or negative fabric errno; 0 is no error and is taken as {@link FabricErrno#EOTHER}.
     * @param text  what happened, with the values seen and needed.
     */
    public FabricException(int errno, String text) {
        this(errno, text, null, null);
    }

    /**
     * Failure with its own remedy.
     *
     * @param errno  positive or negative fabric errno; 0 is no error and is taken as {@link FabricErrno#EOTHER}.
     * @param text   what happened, with the values seen and needed.
     * @param remedy what the reader can do about it, or null or nothing for the general remedy of the code.
     */
    public FabricException(int errno, String text, String remedy) {
        this(errno, text, remedy, null);
    }

    /**
     * Failure with its own remedy and a cause.
     *
     * @param errno  positive or negative fabric errno; 0 is no error and is taken as {@link FabricErrno#EOTHER}.
     * @param text   what happened, with the values seen and needed.
     * @param remedy what the reader can do about it, or null or nothing for the general remedy of the code.
     * @param cause  the underlying failure, or null.
     */
    public FabricException(int errno, String text, String remedy, Throwable cause) {
        super(message(positive(errno), text, remedy), cause);
        this.errno = positive(errno);
    }

    /**
     * The fabric errno, always positive.
     *
     * @return a value of {@link FabricErrno} or another errno of the host.
     */
    public int errno() {
        return errno;
    }

    private static int positive(int errno) {
        if (errno == 0 || errno == Integer.MIN_VALUE) {
            return FabricErrno.EOTHER;
        }
        return Math.abs(errno);
    }

    private static String message(int errno, String text, String remedy) {
        return FabricErrno.name(errno) + " (" + errno + "): " + text + (text.endsWith(".") ? " " : ". ")
            + (remedy == null || remedy.isBlank() ? FabricErrno.describe(errno) : remedy);
    }
}
