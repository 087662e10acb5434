package org.jfabric.driver.metrics;

import com.sun.net.httpserver.HttpExchange;
import java.util.List;

/**
 * The test that keeps pages of other sites from reading what a server of this host says: a browser that resolves their
 * name to 127.0.0.1 sends that name.
 */
public final class LocalHost {
    private LocalHost() {
    }

    /**
     * Whether a request names this host.
     *
     * @param exchange of a server that listens at 127.0.0.1.
     * @return false if the header Host is missing, or names something else than 127.0.0.1 or localhost and the port.
     */
    public static boolean isNamed(HttpExchange exchange) {
        List<String> hosts = exchange.getRequestHeaders().get("Host");
        int port = exchange.getLocalAddress().getPort();
        return hosts != null && hosts.size() == 1
            && (hosts.getFirst().equals("127.0.0.1:" + port) || hosts.getFirst().equals("localhost:" + port));
    }
}
