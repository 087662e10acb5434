package org.jfabric.tool;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.config.TlsConfig;
import org.jfabric.driver.config.VerbsConfig;

/**
 * Network interfaces, namespaces and keys of the two sides of a ping-pong over a network.
 *
 * @param interfaces of the sides' drivers: none, one for both, or that of ping and that of pong.
 * @param namespaces network namespaces: none, or that of ping and that of pong.
 * @param keys       folder with the files of both sides' keys, or null for those that the options name.
 */
record PingPongPlaces(String link, List<String> interfaces, List<String> namespaces, Path keys) {
    /** Returns the first words of a process's command line. */
    List<String> prefix(PingPongPlan.Member member) {
        return namespaces.isEmpty() ? List.of() : List.of("ip", "netns", "exec", of(namespaces, member));
    }

    /** Returns the flags of its virtual machine. */
    List<String> flags(PingPongPlan.Member member) {
        String option = link.equals(PingPongPlan.VERBS) ? VerbsConfig.INTERFACE.name() : TcpConfig.INTERFACE.name();
        List<String> flags = new ArrayList<>();
        if (!interfaces.isEmpty()) {
            flags.add("-D" + option + '=' + of(interfaces, member));
        }
        if (keys != null) {
            for (var file : List.of(TlsConfig.KEY_FILE, TlsConfig.CERTIFICATE_FILE, TlsConfig.TRUST_FILE)) {
                // called as the files of a driver without options
                flags.add("-D" + file.name() + '=' + keys.resolve(file.defaultValue().getFileName()));
            }
        }
        return flags;
    }

    /** With a link of networks each side has a driver of its own, which is called like the side. */
    private static String of(List<String> values, PingPongPlan.Member member) {
        boolean isPing = member.driverName().equals(PingPongRole.PING.text());
        return values.get(isPing ? 0 : values.size() - 1);
    }
}
