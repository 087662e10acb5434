package org.jfabric.tool;

import java.util.List;

import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.config.VerbsConfig;

/**
 * Where the two sides of a ping-pong over a network are.
 *
 * @param link       that they use.
 * @param interfaces of the sides' drivers: none, one for both, or that of ping and that of pong.
 * @param namespaces network namespaces: none, or that of ping and that of pong.
 */
record PingPongPlaces(String link, List<String> interfaces, List<String> namespaces) {
    /** What the command line of a process begins with. */
    List<String> prefix(PingPongPlan.Member member) {
        return namespaces.isEmpty() ? List.of() : List.of("ip", "netns", "exec", of(namespaces, member));
    }

    /** What its virtual machine is told. */
    List<String> flags(PingPongPlan.Member member) {
        String option = link.equals(PingPongPlan.VERBS) ? VerbsConfig.INTERFACE.name() : TcpConfig.INTERFACE.name();
        return interfaces.isEmpty() ? List.of() : List.of("-D" + option + '=' + of(interfaces, member));
    }

    /** With a link of networks each side has a driver of its own, which is called like the side. */
    private static String of(List<String> values, PingPongPlan.Member member) {
        boolean isPing = member.driverName().equals(PingPongRole.PING.text());
        return values.get(isPing ? 0 : values.size() - 1);
    }
}
