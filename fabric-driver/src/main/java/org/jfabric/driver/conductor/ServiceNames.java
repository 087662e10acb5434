package org.jfabric.driver.conductor;

import org.jfabric.IbUdName;
import org.jfabric.SocketName;
import org.jfabric.driver.link.FabricName;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;

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

    /** No names yet. */
    ServiceNames() {
    }

    /**
     * Takes a name for an endpoint.
     *
     * @param name       valid part of an address.
     * @param endpointId the endpoint.
     * @return false if an endpoint or a service has it already.
     */
    public boolean addEndpoint(String name, long endpointId) {
        return !serviceByName.containsKey(name) && endpointIdByName.putIfAbsent(name, endpointId) == null;
    }

    /**
     * Takes a name for a service.
     *
     * @param service    valid part of an address.
     * @param endpointId the endpoint behind it.
     * @param address    the endpoint's own address.
     * @return false if an endpoint or a service has it already.
     */
    public boolean addService(String service, long endpointId, String address) {
        return !endpointIdByName.containsKey(service)
            && serviceByName.putIfAbsent(service, new Service(service, endpointId, address)) == null;
    }

    /**
     * Says the address of an endpoint that was not known when its service was added.
     *
     * @param service    as added.
     * @param endpointId the endpoint behind it.
     * @param address    the endpoint's own address.
     */
    public void setAddress(String service, long endpointId, String address) {
        serviceByName.put(service, new Service(service, endpointId, address));
    }

    /**
     * Gives back the name of an endpoint.
     *
     * @param name as added.
     */
    public void removeEndpoint(String name) {
        endpointIdByName.remove(name);
    }

    /**
     * Gives back the name of a service.
     *
     * @param service as added.
     */
    public void removeService(String service) {
        serviceByName.remove(service);
    }

    /**
     * The endpoint behind a name of this driver.
     *
     * @param driver this driver's name.
     * @param name   of an endpoint or a service, or unknown.
     * @return the endpoint's own address, or the one with that name if no service has it.
     */
    public String resolve(String driver, String name) {
        Service service = serviceByName.get(name);
        return service == null ? FabricName.of(driver, name) : service.address();
    }

    /**
     * Writes the file of a service.
     *
     * @param directory of this driver.
     * @param service   the name.
     * @param address   of the endpoint behind it.
     * @throws IOException if there is no room.
     */
    public static void write(Path directory, String service, String address) throws IOException {
        Path target = directory.resolve(service + SUFFIX);
        Path temporary = directory.resolve(service + NEW_SUFFIX);
        Files.deleteIfExists(temporary);
        // others must never read half an address
        try (SeekableByteChannel channel = Files.newByteChannel(
            temporary,
            Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            channel.write(ByteBuffer.wrap(address.getBytes(StandardCharsets.US_ASCII)));
        }
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Whether {@link #write} makes files of that name.
     *
     * @param name of a file in a driver's directory.
     * @return true for a service's file, and for one that was not finished.
     */
    public static boolean isFileName(String name) {
        int end = name.endsWith(SUFFIX) ? SUFFIX.length() : name.endsWith(NEW_SUFFIX) ? NEW_SUFFIX.length() : -1;
        return end >= 0 && FabricName.isValidPart(name.substring(0, name.length() - end));
    }

    /**
     * Deletes the file of a service.
     *
     * @param directory of this driver.
     * @param service   the name.
     * @throws IOException if it cannot be deleted.
     */
    public static void delete(Path directory, String service) throws IOException {
        Files.deleteIfExists(directory.resolve(service + SUFFIX));
    }

    /**
     * Finds the endpoint behind a name of another driver.
     *
     * @param directory of that driver.
     * @param driver    its name.
     * @param name      of an endpoint or a service of it.
     * @return the endpoint's own address, or the one with that name if no service has it.
     */
    public static String resolve(Path directory, String driver, String name) {
        String address = content(directory, name + SUFFIX);
        if (SocketName.isName(address)) {
            return SocketName.parse(address).toString();
        }
        if (IbUdName.isName(address)) {
            return IbUdName.parse(address).toString();
        }
        String endpoint = driver.equals(FabricName.driverOf(address)) ? FabricName.endpointOf(address) : null;
        return FabricName.of(driver, endpoint != null && FabricName.isValidPart(endpoint) ? endpoint : name);
    }

    /** What a service file of another driver says; empty if it is not there, or is none. */
    private static String content(Path directory, String fileName) {
        int dirFd = Libc.openDirectory(directory);
        if (dirFd < 0) {
            return "";
        }
        // opened as the other driver's mapped files are: regular, of this user, no link, and no pipe that lets us wait
        try (MappedFile file = MappedFile.open(dirFd, fileName, true, 1)) {
            return file.lengthBytes() > FabricName.MAX_LENGTH
                ? "" : file.directBuffer(0, (int) file.lengthBytes())
                    .getStringWithoutLengthAscii(0, (int) file.lengthBytes());
        } catch (NativeCallException ex) {
            // no such service there: the name is an endpoint's own, or its driver will refuse it
            return "";
        } finally {
            Libc.close(dirFd);
        }
    }
}
