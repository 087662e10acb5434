package org.jfabric.tool;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Order;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows what a driver's links offer. */
@Command(
    name = "info",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows what the links of a driver offer, best first. Without a driver in the default directory: what"
        + " one would offer.")
final class InfoCommand implements Callable<Integer> {
    private static final int NOTHING_MATCHES = 1;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(
        names = "--why",
        description = "Show the verdict on every candidate link: chosen, or the condition that failed with the value"
            + " seen, the value needed and the remedy.")
    private boolean why;

    @Option(names = "--link", paramLabel = "LINK", description = "Ask for this link only.")
    private String link;

    @Option(
        names = "--to",
        paramLabel = "ADDRESS",
        description = "Ask for links that reach this address, for instance jfabric://beta/quotes or"
            + " fi_sockaddr_in://192.0.2.2:4711; of a stream between hosts, stream://192.0.2.2:4100/quotes or"
            + " jfabric://alpha/quotes?net=192.0.2.2:4100, the path and what stands in its way.")
    private String destination;

    @Option(
        names = "--caps",
        split = ",",
        paramLabel = "CAP",
        description = "Ask for these capabilities, for instance MSG,TAGGED,RMA.")
    private List<String> caps = List.of();

    @Option(
        names = "--max-msg-size",
        paramLabel = "BYTES",
        converter = ByteSizeConverter.class,
        description = "Ask for messages of this size.")
    private long maxMsgSize;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    InfoCommand() {
    }

    @Override
    public Integer call() {
        boolean isStream = StreamRoute.isStream(destination);
        Info hints = new Info().linkName(link).caps(capabilities()).destAddr(isStream ? null : destination);
        hints.epAttr().maxMsgSize(maxMsgSize);
        InfoResult result = LinkQuery.ask(
            directory.path(), directory.isGiven(), hints, DriverConfig.builder().host(), spec.commandLine().getErr());
        if (isStream) {
            // no link is chosen for it: the drivers have a socket of link udp between them
            result = new InfoResult(List.of(), List.of(StreamRoute.examine(destination, verdicts(result))));
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson(result));
        } else {
            out.print(toText(result));
        }
        out.flush();
        boolean isReached = isStream ? result.verdicts().getFirst().chosen() : !result.matches().isEmpty();
        return isReached ? 0 : NOTHING_MATCHES;
    }

    private long capabilities() {
        long bits = 0;
        for (String name : caps) {
            long bit = 1;
            while (bit != 0 && ((Flags.mask(Flags.Kind.CAPABILITY) & bit) == 0
                || !Flags.toString(bit, Flags.Kind.CAPABILITY).equalsIgnoreCase(name.strip()))) {
                bit <<= 1;
            }
            if (bit == 0) {
                throw new ParameterException(spec.commandLine(), "Invalid value for option '--caps': \"" + name
                    + "\" is not one of " + Flags.toString(Flags.mask(Flags.Kind.CAPABILITY), Flags.Kind.CAPABILITY)
                    .replace("|", ", "));
            }
            bits |= bit;
        }
        return bits;
    }

    private String toText(InfoResult result) {
        StringBuilder text = new StringBuilder();
        if (StreamRoute.isStream(destination)) {
            return text.append(result.verdicts().getFirst()).append('\n').toString();
        }
        if (result.matches().isEmpty()) {
            text.append("No link offers all of this").append(why ? "" : "; 'fabric info --why' says what is missing")
                .append(".\n");
        }
        for (Info info : result.matches()) {
            text.append(info.fabricAttr().provName()).append('\n');
            line(text, "endpoint", info.epAttr().type() + ", protocol " + info.epAttr().protocol()
                + ", messages up to " + grouped(info.epAttr().maxMsgSize()) + " bytes");
            line(text, "capabilities", Flags.toString(info.caps(), info.fabricAttr().capabilityKind()));
            line(text, "transmit", grouped(info.txAttr().size()) + " operations, inject up to "
                + grouped(info.txAttr().injectSize()) + " bytes, order " + Order.toString(info.txAttr().msgOrder())
                + ", level " + Flags.toString(info.txAttr().opFlags(), Flags.Kind.OPERATION_DEFAULT));
            line(text, "receive", grouped(info.rxAttr().size()) + " operations, unexpected up to "
                + grouped(info.rxAttr().totalBufferedRecv()) + " bytes, order "
                + Order.toString(info.rxAttr().msgOrder()));
            line(text, "domain", info.domainAttr().name() + ", threading " + info.domainAttr().threading()
                + ", progress " + info.domainAttr().dataProgress() + ", resource management "
                + info.domainAttr().resourceManagement() + ", CQ data " + info.domainAttr().cqDataSize() + " bytes");
        }
        if (why) {
            text.append("verdicts\n");
            verdicts(result).forEach(verdict -> text.append("  ").append(verdict).append('\n'));
        }
        return text.toString();
    }

    /** Of a link that was asked for its own alone, else all, and those of links that are not enabled. */
    private List<Verdict> verdicts(InfoResult result) {
        List<Verdict> shown = new ArrayList<>(result.verdicts());
        if (!shown.isEmpty() && shown.getFirst().linkName().equals(StreamRoute.NAME)) {
            return shown;
        }
        if (link == null) {
            LinkConfig.NAMES.stream()
                .filter(name -> shown.stream().noneMatch(verdict -> verdict.linkName().equals(name)))
                .map(LinkConfig::absent).forEach(shown::add);
        } else {
            shown.removeIf(verdict -> !verdict.linkName().equals(link));
        }
        return shown;
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(String.format(Locale.ROOT, "  %-13s %s%n", name, value));
    }

    private static String grouped(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private String toJson(InfoResult result) {
        JsonWriter writer = new JsonWriter().beginObject().name("matches").beginArray();
        for (Info info : result.matches()) {
            writer.beginObject()
                .member("link", info.fabricAttr().provName())
                .member("caps", Flags.toString(info.caps(), info.fabricAttr().capabilityKind()))
                .member("endpointType", info.epAttr().type().toString())
                .member("protocol", info.epAttr().protocol().toString())
                .member("maxMsgSize", info.epAttr().maxMsgSize())
                .member("txSize", info.txAttr().size())
                .member("rxSize", info.rxAttr().size())
                .member("injectSize", info.txAttr().injectSize())
                .member("msgOrder", Order.toString(info.txAttr().msgOrder()))
                .member("opFlags", Flags.toString(info.txAttr().opFlags(), Flags.Kind.OPERATION_DEFAULT))
                .member("totalBufferedRecv", info.rxAttr().totalBufferedRecv())
                .member("domain", info.domainAttr().name())
                .member("threading", info.domainAttr().threading().toString())
                .member("dataProgress", info.domainAttr().dataProgress().toString())
                .member("cqDataSize", info.domainAttr().cqDataSize())
                .endObject();
        }
        writer.endArray().name("verdicts").beginArray();
        for (Verdict verdict : verdicts(result)) {
            writer.beginObject()
                .member("link", verdict.linkName())
                .member("chosen", verdict.chosen())
                .member("score", verdict.score())
                .name("reasons").beginArray();
            for (Reason reason : verdict.reasons()) {
                writer.beginObject()
                    .member("condition", reason.condition())
                    .member("seen", reason.seen())
                    .member("needed", reason.needed())
                    .member("remedy", reason.remedy())
                    .endObject();
            }
            writer.endArray().endObject();
        }
        return writer.endArray().endObject().toString();
    }
}
