package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.UdpConfig;

/** Whether the kernel gives the sockets of UDP, which streams between hosts have too, the buffers that they ask for. */
final class SocketBuffersCheck implements Check {
    private static final String NAME = "socket buffers";

    @Override
    public Finding examine(Host host) {
        if (!host.config().get(LinkConfig.ENABLED).contains("udp")) {
            return Finding.ok(NAME, "link udp is not enabled, so there are no streams between hosts");
        }
        int wanted = host.config().get(UdpConfig.BUFFER_BYTES);
        List<String> seen = new ArrayList<>();
        List<String> commands = new ArrayList<>();
        for (String name : List.of("rmem_max", "wmem_max")) {
            String most = host.line("/proc/sys/net/core/" + name);
            if (most.matches("\\d{1,18}")) {
                seen.add("net.core." + name + ' ' + most);
                if (Long.parseLong(most) < wanted) {
                    commands.add("sysctl -w net.core." + name + '=' + wanted);
                }
            }
        }
        String text = (seen.isEmpty() ? "limits unknown" : String.join(", ", seen)) + ", asked for "
            + wanted + " bytes";
        return commands.isEmpty() ? Finding.ok(NAME, text) : Finding.warning(NAME, text, "Sockets of UDP get less than"
            + " jfabric.udp.bufferBytes: bursts are lost, and streams have to repair them. Keep the values in"
            + " /etc/sysctl.d.", commands.toArray(String[]::new));
    }
}
