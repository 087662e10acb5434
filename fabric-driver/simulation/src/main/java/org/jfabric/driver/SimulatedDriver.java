package org.jfabric.driver;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EngineConfig;
import org.jfabric.driver.engine.EngineSession;
import org.jfabric.driver.engine.SimulatedEngine;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.best.BestLinkProvider;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.driver.link.tcp.SimulatedNetwork;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.udp.SimulatedDatagrams;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.driver.resource.Environment;

/** A driver in mode INVOKER without threads, on a simulated network. One thread. */
public final class SimulatedDriver {
    private final FabricDriver driver;

    private SimulatedDriver(FabricDriver driver) {
        this.driver = driver;
    }

    /**
     * Launches a driver.
     *
     * @param environment without threads.
     */
    public static SimulatedDriver launch(
        DriverConfig config, Environment environment, SimulatedNetwork network, SimulatedDatagrams datagrams) {
        List<LinkProvider> providers = new ArrayList<>();
        for (LinkProvider provider : LinkProviders.enabled(config)) {
            providers.add(switch (provider.name()) {
                case TcpLinkProvider.NAME -> network.provider();
                case RxmLinkProvider.NAME -> new RxmLinkProvider(RxmLinkProvider.NAME, network.provider());
                case UdpLinkProvider.NAME -> datagrams.provider();
                case BestLinkProvider.NAME -> new BestLinkProvider(providers);
                default -> provider;
            });
        }
        return new SimulatedDriver(FabricDriver.launch(config, providers, false, environment));
    }

    /** Opens a fabric whose calls run the driver. */
    public Fabric fabric(FabricConfig config) {
        return driver.fabric(config);
    }

    /** The driver. Returns the same object always. */
    public FabricDriver driver() {
        return driver;
    }

    /** Runs a duty cycle. */
    public int cycle() {
        return driver.cycle();
    }

    /** Whether a deadline passes although nothing happens. */
    public boolean hasTimers() {
        return driver.wiring().hasTimers();
    }

    /** Checks its accounts, between two cycles. Returns what is wrong; empty if nothing is. */
    public List<String> check(boolean isAtRest) {
        List<String> wrong = new ArrayList<>();
        for (EngineSession session : driver.wiring().progress().sessions()) {
            wrong.addAll(SimulatedEngine.check(session, driver.config().get(EngineConfig.UNEXPECTED_BUDGET_BYTES)));
            if (isAtRest) {
                wrong.addAll(SimulatedEngine.checkAtRest(session));
            }
        }
        return wrong;
    }

    /** Ends the driver as the kill of its process would. */
    public void kill() {
        driver.abandon();
    }

    /** Closes the driver in order. */
    public void close() {
        driver.close();
    }
}
