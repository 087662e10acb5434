package com.example.quotes;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import org.jfabric.driver.FabricDriver;
import org.springframework.stereotype.Component;

// example: spring-metrics
/** Sums of the driver's metrics. Counters of links grow as long as it runs; those of endpoints end with these. */
@Component
class FabricMetrics implements MeterBinder {
    private static final List<String> COUNTERS = List.of("jfabric_link_sent_messages", "jfabric_link_sent_bytes",
        "jfabric_link_received_messages", "jfabric_link_received_bytes", "jfabric_link_errors",
        "jfabric_driver_errors", "jfabric_driver_clients_died");
    private static final List<String> GAUGES = List.of("jfabric_driver_clients", "jfabric_driver_endpoints",
        "jfabric_driver_mapped_bytes", "jfabric_endpoint_outstanding_sends", "jfabric_peer_waiting_sends");

    private final FabricDriver driver;

    FabricMetrics(FabricDriver driver) {
        this.driver = driver;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        COUNTERS.forEach(name -> FunctionCounter.builder(name, driver, each -> each.metric(name)).register(registry));
        GAUGES.forEach(name -> Gauge.builder(name, driver, each -> each.metric(name)).register(registry));
    }
}
// end
