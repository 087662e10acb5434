package org.jfabric.driver.conductor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.SocketName;

/**
 * Names of this driver's endpoints and the service names published for them. A service is a small file in the driver's
 * directory with the endpoint's own address, so that other drivers of the host find it.
 *
 * <p>Owner: conductor, except for the static methods, which read and write files and belong to the resource thread.
 */
public final class ServiceNames {
    private static final String SUFFIX = ".svc";
    private static final String NEW_SUFFIX = SUFFIX + ".new";

    private final Map<String, Long> endpointIdByName = new HashMap<>();
    private final Map<String, Service> serviceByName = new HashMap<>();

    ServiceNames() {
    }

    /**
     * Refuses a name that cannot be part of an address of this driver.
     *
     * @param name       any text.
     * @throws FabricException {@code FI_EINVAL}.
     */
    static void check(String what, String driverName, String name) {
        if (!FabricName.isValidPart(name)) {
            throw new FabricException(FabricErrno.EINVAL,
                "the " + what + "'s name \"" + (name.length() > 64 ? name.substring(0, 64) + "..." : name)
                    + "\" has " + name.length() + " characters",
                "Use 1 to 64 letters, digits, dots, hyphens and underscores, not beginning with a dot.");
        }
        int length = FabricName.of(driverName, name).length();
        if (length > FabricName.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                "the " + what + "'s address " + FabricName.of(driverName, name) + " has " + length + " characters, at"
                    + " most " + FabricName.MAX_LENGTH + " fit where addresses are reported",
                "Use a shorter name, or a shorter name for the driver.");
        }
    }

    /**
     * Creates the exception for a name that another endpoint or service has. Returns the exception, to be thrown by the
     * caller.
     */
    static FabricException taken(String driverName, String name) {
        return new FabricException(FabricErrno.EADDRINUSE,
            "the name " + name + " is taken in driver " + driverName,
            "Choose another, or close the endpoint that has it.");
    }

    /**
     * Takes a name for an endpoint.
     *
     * @param name       valid part of an address.
     * @return false if an endpoint or a service has it already.
     */
    boolean addEndpoint(String name, long endpointId) {
        return !serviceByName.containsKey(name) && endpointIdByName.putIfAbsent(name, endpointId) == null;
    }

    /**
     * Takes a name for a service.
     *
     * @param service    valid part of an address.
     * @return false if an endpoint or a service has it already.
     */
    boolean addService(String service, long endpointId, String address) {
        return !endpointIdByName.containsKey(service)
            && serviceByName.putIfAbsent(service, new Service(service, endpointId, address)) == null;
    }

    /** Sets the address of an endpoint that was not known when its service was added. */
    void setAddress(String service, long endpointId, String address) {
        serviceByName.put(service, new Service(service, endpointId, address));
    }

    void removeEndpoint(String name) {
        endpointIdByName.remove(name);
    }

    /** Releases the name of a service. */
    void removeService(String service) {
        serviceByName.remove(service);
    }

    /**
     * Resolves a name of this driver.
     *
     * @param name   of an endpoint or a service, or unknown.
     * @return the endpoint's own address; if no service has the name, the address with that name.
     */
    String resolve(String driver, String name) {
        Service service = serviceByName.get(name);
        return service == null ? FabricName.of(driver, name) : service.address();
    }

    /**
     * Writes the file of a service.
     *
     * @throws IOException if the file cannot be written.
     */
    static void write(Path directory, String service, String address) throws IOException {
        Path target = directory.resolve(service + SUFFIX);
        Path temporary = directory.resolve(service + NEW_SUFFIX);
        Files.deleteIfExists(temporary);
        // other drivers must never read part of an address
        try (SeekableByteChannel channel = Files.newByteChannel(
            temporary,
            Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            channel.write(ByteBuffer.wrap(address.getBytes(StandardCharsets.US_ASCII)));
        }
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Whether {@link #write} creates files of that name. */
    public static boolean isFileName(String name) {
        int end = name.endsWith(SUFFIX) ? SUFFIX.length() : name.endsWith(NEW_SUFFIX) ? NEW_SUFFIX.length() : -1;
        return end >= 0 && FabricName.isValidPart(name.substring(0, name.length() - end));
    }

    /**
     * Deletes the file of a service.
     *
     * @throws IOException if it cannot be deleted.
     */
    static void delete(Path directory, String service) throws IOException {
        Files.deleteIfExists(directory.resolve(service + SUFFIX));
    }

    /**
     * Resolves a name of another driver.
     *
     * @param name      of an endpoint or a service of it.
     * @return the endpoint's own address; if no service has the name, the address with that name.
     */
    static String resolve(Path directory, String driver, String name) {
        String address = content(directory, name + SUFFIX);
        if (SocketName.isName(address)) {
            return SocketName.parse(address).toString();
        }
        if (IbUdName.isName(address)) {
            return IbUdName.parse(address).toString();
        }
        if (BestName.isName(address)) {
            return BestName.parse(address).toString();
        }
        String endpoint = driver.equals(FabricName.driverOf(address)) ? FabricName.endpointOf(address) : null;
        return FabricName.of(driver, endpoint != null && FabricName.isValidPart(endpoint) ? endpoint : name);
    }

    /** Content of a service file of another driver; empty if it does not exist or is not a service file. */
    private static String content(Path directory, String fileName) {
        int dirFd = Libc.openDirectory(directory);
        if (dirFd < 0) {
            return "";
        }
        // checked as the other driver's mapped files are: regular, of this user, no link, and no pipe that would block
        try (MappedFile file = MappedFile.open(dirFd, fileName, true, 1)) {
            return file.lengthBytes() > BestName.MAX_LENGTH
                ? "" : file.directBuffer(0, (int) file.lengthBytes())
                    .getStringWithoutLengthAscii(0, (int) file.lengthBytes());
        } catch (NativeCallException ex) {
            // no such service there: it is an endpoint's own name, or its driver will refuse it
            return "";
        } finally {
            Libc.close(dirFd);
        }
    }
}
