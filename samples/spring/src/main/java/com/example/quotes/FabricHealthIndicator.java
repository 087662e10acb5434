package com.example.quotes;

import org.jfabric.driver.FabricDriver;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

// example: spring-health
/** Down if a thread of the driver has ended by an error, or the application's loop stands still. */
@Component
class FabricHealthIndicator implements HealthIndicator {
    private static final long SILENT_LIMIT_NS = 5_000_000_000L;

    private final FabricDriver driver;
    private final QuoteFeed feed;

    FabricHealthIndicator(FabricDriver driver, QuoteFeed feed) {
        this.driver = driver;
        this.feed = feed;
    }

    @Override
    public Health health() {
        boolean isUp = driver.isRunning() && feed.silentNs() < SILENT_LIMIT_NS;
        return (isUp ? Health.up() : Health.down())
            .withDetail("directory", driver.directory().toString())
            .withDetail("errors", driver.metric("jfabric_driver_errors"))
            .withDetail("silentNs", feed.silentNs())
            .build();
    }
}
// end
