package org.jfabric.ffi;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.UnsafeApi;

/**
 * Checks that this Java process may use native calls and Agrona's direct memory access.
 *
 * <p>Entry points call {@link #check()} first, so that an application which embeds the library gets the name of the
 * flag that it has to add instead of a linkage error. Runnable jars of the product have both permissions in their
 * manifest.
 */
public final class NativeAccess {
    private static final String INTERNAL_PACKAGE = "jdk.internal.misc";

    private static volatile boolean checked;

    private NativeAccess() {
    }

    /**
     * Passes if machine and permissions are right. Any thread; cheap after the first success.
     *
     * @throws IllegalStateException with the exact flags that are missing from the java command, or naming the
     *     operating system and processor if they are not supported.
     */
    public static void check() {
        if (checked) {
            return;
        }
        if (!Platform.SUPPORTED || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalStateException("JFabric runs on Linux on amd64 or aarch64 (little-endian), this is " +
                Platform.OS + " on " + Platform.ARCH + " (" + ByteOrder.nativeOrder() + ")");
        }
        List<String> missing = missingFlags();
        if (!missing.isEmpty()) {
            IllegalStateException lacking = new IllegalStateException("the java command lacks "
                + String.join(" ", missing) + "; add it, or put 'Enable-Native-Access: ALL-UNNAMED' and 'Add-Opens: "
                + "java.base/" + INTERNAL_PACKAGE + "' into the manifest of the runnable jar");
            lacking.setStackTrace(ofCaller(lacking.getStackTrace()));
            throw lacking;
        }
        checked = true;
    }

    /** Leaves out what is above the application's frames: the message says all, and stands before its line then. */
    static StackTraceElement[] ofCaller(StackTraceElement[] frames) {
        int first = frames.length;
        while (first > 0 && !frames[first - 1].getClassName().startsWith("org.jfabric.")) {
            first--;
        }
        return first == frames.length ? frames : Arrays.copyOfRange(frames, first, frames.length);
    }

    /**
     * The flags that this process was started without. Returns the flags for the java command, empty if none is
     * missing.
     */
    static List<String> missingFlags() {
        List<String> missing = new ArrayList<>();
        // The class literal does not initialise UnsafeApi, which would fail without the permission.
        Module agrona = UnsafeApi.class.getModule();
        if (!Object.class.getModule().isOpen(INTERNAL_PACKAGE, agrona)) {
            missing.add("--add-opens java.base/" + INTERNAL_PACKAGE + "=" + name(agrona));
        }
        Module own = NativeAccess.class.getModule();
        if (!own.isNativeAccessEnabled()) {
            missing.add("--enable-native-access=" + name(own));
        }
        return missing;
    }

    private static String name(Module module) {
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }
}
