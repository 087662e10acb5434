package org.jfabric.driver.kit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.TestDirectory;

/** Two datagram endpoints that have inserted each other's address; everything goes with {@link #close}. */
public final class DatagramPair implements AutoCloseable {
    public final DatagramSetup setup;
    public final FabricNode a;
    public final FabricNode b;
    public final long toB;
    public final long toA;
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    /** Of embedded drivers. */
    private final Path base;
    /** Null if the drivers are embedded. */
    private final Daemons daemons;
    private Runnable pump = () -> { };

    public DatagramPair(DatagramSetup setup) {
        this(setup, hints());
    }

    public DatagramPair(DatagramSetup setup, Info hints) {
        this.setup = setup;
        if (setup.link.equals("packet")) {
            PacketPrivilege.assume();
        }
        daemons = setup.daemon ? Daemons.shared(setup.options()) : null;
        base = setup.daemon ? null : TestDirectory.create();
        if (setup.daemon) {
            resources.push(daemons);
            daemons.start(List.of("alpha", "beta"));
        }
        Info bound = hints.copy().srcAddr(address(0));
        a = new FabricNode(fabric("alpha"), setup.link, bound, 512, 0xAA, this::pump);
        b = new FabricNode(fabric("beta"), setup.link, bound, 512, 0xBB, this::pump);
        resources.push(a);
        resources.push(b);
        toB = a.av.insert(b.endpoint.name());
        toA = b.av.insert(a.endpoint.name());
    }

    public static Info hints() {
        Info hints = new Info().caps(Flags.MSG | Flags.SOURCE);
        hints.epAttr().type(EndpointType.DGRAM);
        return hints;
    }

    /** A further endpoint of one side, with a queue, a vector and memory of its own. */
    public FabricNode sibling(FabricNode of, Info hints) {
        return new FabricNode(of.fabric, setup.link, hints.copy().srcAddr(address(0)), 64, 0, this::pump);
    }

    /** Text of an address of the host that this setup uses. */
    public String address(int port) {
        try {
            return SocketName.of(new InetSocketAddress(InetAddress.getByName(setup.host), port)).toString();
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** Directory of a driver. */
    public Path directory(String name) {
        return setup.daemon ? daemons.directory(name) : base.resolve(name);
    }

    public void pump() {
        pump.run();
    }

    private Fabric fabric(String name) {
        if (setup.daemon) {
            return Fabric.connect(new FabricConfig().directory(daemons.directory(name)));
        }
        DriverConfig.Builder config = DriverConfig.builder()
            .directory(base.resolve(name)).threadingMode(ThreadingMode.INVOKER);
        for (String option : setup.options()) {
            config.set(option.substring(0, option.indexOf('=')), option.substring(option.indexOf('=') + 1));
        }
        FabricDriver driver = FabricDriver.launchEmbedded(config.build());
        resources.push(driver);
        Runnable before = pump;
        pump = () -> {
            before.run();
            driver.cycle();
        };
        return driver.fabric();
    }

    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        if (base != null) {
            TestDirectory.delete(base);
        }
    }
}
