package org.jfabric.driver.link.shm;

import java.nio.file.Path;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Establishes connections to other drivers without blocking the progress thread: connecting the socket and mapping
 * files run on the resource thread, and hellos are exchanged when the socket is readable.
 *
 * <p>Owner: progress agent, except for the {@code execute} methods of the tasks.
 */
final class ShmConnector {
    private static final String SOCKET_NAME = "driver.sock";

    private final ShmLink link;
    private final LinkServices services;
    private final DriverConfig config;

    ShmConnector(ShmLink link, LinkServices services, DriverConfig config) {
        this.link = link;
        this.services = services;
        this.config = config;
    }

    void dial(ShmConnection connection) {
        connection.state(ShmConnection.DIALING);
        services.submit(new DialTask(connection, services.nextFileNumber()));
    }

    /** A peer's hello has arrived, and its connection is the one to keep. An attempt of this side is abandoned. */
    void accept(ShmConnection connection, int fd, ShmHello hello) {
        if (connection.files() != null) {
            connection.files().release(services);
            connection.files(null);
        }
        connection.state(ShmConnection.MAPPING);
        services.submit(new AcceptTask(connection, fd, hello, services.nextFileNumber()));
    }

    private Path directoryOf(ShmConnection connection) {
        return services.directory().resolveSibling(connection.peerName());
    }

    private void onHello(ShmConnection connection, ShmFiles files, int fd) {
        if (connection.state() != ShmConnection.GREETING || connection.files() != files) {
            return;
        }
        ShmHello hello;
        try {
            hello = ShmHello.receive(fd);
        } catch (FabricException e) {
            connection.fail(e.errno(), e.getMessage());
            return;
        }
        if (hello == null) {
            services.rearm(fd);
        } else if (hello.errno() == FabricErrno.EALREADY) {
            connection.files(null);
            files.release(services);
            connection.awaitPeer();
        } else if (hello.errno() != 0) {
            connection.fail(ShmConnection.positive(hello.errno(), FabricErrno.ECONNREFUSED),
                "refused: " + hello.reason());
        } else {
            connection.state(ShmConnection.MAPPING);
            services.submit(new MapTask(connection, files, hello));
        }
    }

    private void onUp(ShmConnection connection, ShmFiles files) {
        int fd = files.fd();
        connection.up(config.get(ShmConfig.REGION_CACHE_SIZE));
        services.watch(fd, connection::onReadable);
    }

    /** Base class of the tasks: the connection may have ended when a task is done. */
    private abstract class ConnectTask extends ResourceTask {
        final ShmConnection connection;
        final ShmFiles files;

        ConnectTask(ShmConnection connection, ShmFiles files) {
            this.connection = connection;
            this.files = files;
        }

        abstract int expectedState();

        abstract void onReady();

        boolean isOver() {
            return link.isClosed() || connection.state() != expectedState()
                || connection.files() != null && connection.files() != files;
        }

        @Override
        protected void onDone() {
            if (isOver()) {
                files.release(services);
                return;
            }
            try {
                onReady();
            } catch (FabricException e) {
                connection.fail(e.errno(), e.getMessage());
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            boolean over = isOver();
            files.release(services);
            if (!over) {
                connection.files(null);
                services.onError(cause);
                connection.fail(PeerFile.errnoOf(cause), null);
            }
        }
    }

    /** Opens the peer's directory and socket and makes this side's ring. */
    private final class DialTask extends ConnectTask {
        private final long ringNumber;

        DialTask(ShmConnection connection, long ringNumber) {
            super(connection, new ShmFiles(services.environment(), services.directoryFd()));
            this.ringNumber = ringNumber;
        }

        @Override
        int expectedState() {
            return ShmConnection.DIALING;
        }

        @Override
        protected void execute() {
            Path directory = directoryOf(connection);
            files.openDirectory(directory);
            files.connect(directory.resolve(SOCKET_NAME));
            files.createRing(ringNumber, config.get(ShmConfig.RING_LENGTH_BYTES), services.ownerId());
        }

        @Override
        void onReady() {
            connection.files(files);
            connection.state(ShmConnection.GREETING);
            ShmHello.of(services.ownerId(), services.driverName(), ringNumber, config.get(ShmConfig.RING_LENGTH_BYTES),
                ShmHello.threads(services.thread(), connection.peerThread()), services.stages().isOn())
                .send(files.fd());
            services.watch(files.fd(), fd -> onHello(connection, files, fd));
        }
    }

    /** Maps the files that the peer's answer names. */
    private final class MapTask extends ConnectTask {
        private final ShmHello hello;

        MapTask(ShmConnection connection, ShmFiles files, ShmHello hello) {
            super(connection, files);
            this.hello = hello;
        }

        @Override
        int expectedState() {
            return ShmConnection.MAPPING;
        }

        @Override
        protected void execute() {
            files.openPeer(hello);
        }

        @Override
        void onReady() {
            services.unwatch(files.fd());
            onUp(connection, files);
        }
    }

    /** Maps the files that the peer's hello names and makes this side's ring. */
    private final class AcceptTask extends ConnectTask {
        private final ShmHello hello;
        private final long ringNumber;

        AcceptTask(ShmConnection connection, int fd, ShmHello hello, long ringNumber) {
            super(connection, new ShmFiles(services.environment(), services.directoryFd()));
            this.hello = hello;
            this.ringNumber = ringNumber;
            files.fd(fd);
        }

        @Override
        int expectedState() {
            return ShmConnection.MAPPING;
        }

        @Override
        protected void execute() {
            files.openDirectory(directoryOf(connection));
            files.openPeer(hello);
            files.createRing(ringNumber, config.get(ShmConfig.RING_LENGTH_BYTES), services.ownerId());
        }

        @Override
        void onReady() {
            connection.files(files);
            ShmHello.of(services.ownerId(), services.driverName(), ringNumber, config.get(ShmConfig.RING_LENGTH_BYTES),
                ShmHello.threads(services.thread(), connection.peerThread()), services.stages().isOn())
                .send(files.fd());
            onUp(connection, files);
        }
    }
}
