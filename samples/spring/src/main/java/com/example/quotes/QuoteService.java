package com.example.quotes;

import java.util.Map;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A service that embeds a driver, and shows its health and its metrics by Spring's Actuator. */
@SpringBootApplication
@EnableConfigurationProperties(QuoteService.Options.class)
public class QuoteService {
    /**
     * Options of the driver.
     *
     * @param options by their names in docs/options.md.
     */
    @ConfigurationProperties("fabric")
    record Options(Map<String, String> options) {
    }

    @RestController
    record Quotes(QuoteFeed feed) {
        @GetMapping("/quotes")
        String count() {
            return feed.received() + " quotes\n";
        }
    }

    /**
     * Runs it until SIGTERM or SIGINT, whose handler is Spring's: an embedded driver installs none.
     *
     * @param args Spring's.
     */
    public static void main(String[] args) {
        SpringApplication.run(QuoteService.class, args);
    }

    // example: spring-driver
    /** Closed when the context closes, after what was opened through it: beans end in the reverse order. */
    @Bean
    FabricDriver driver(Options options) {
        DriverConfig.Builder config = DriverConfig.builder();
        options.options().forEach(config::set);
        return FabricDriver.launchEmbedded(config.build());
    }

    @Bean
    Fabric fabric(FabricDriver driver) {
        return driver.fabric();
    }
    // end
}
