package org.jfabric.driver.qualify;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.driver.qualify.Request.Part;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.jfabric.tool.FabricTool;
import org.junit.platform.console.ConsoleLauncher;

/** The steps of the host that calls, one after the other. */
final class QualifyRun {
    /** docs/reliability.md: every operation ends within that time of its peer's death. */
    private static final int END_OF_LOST_S = 2;
    private static final int ANSWER_S = 120;
    private static final int PROGRAM_S = 300;
    private static final int SUITE_S = 2400;
    private static final int TAIL = 3;
    private static final double NS_PER_S = 1e9;
    private static final String SIGNAL = "terminated with signal 11";
    private static final String CRASHED = "fi_pingpong crashed when it closed its endpoint, behind its last message";
    private static final String CONFORMANCE = "org.jfabric.driver.conformance";
    private static final Pattern TIME = Pattern.compile("(rate|time) (.+)=([0-9.]+)");
    private static final Pattern TESTS = Pattern.compile("\\[ *(\\d+) tests (successful|failed|aborted|skipped)");

    private final Place place;
    private final ControlLine line;
    private final Programs programs;
    private final Report report;
    private final Predicate<String> only;
    private final boolean isQuick;

    /** Why a step is not made. */
    private static final class Skipped extends Exception {
        private static final long serialVersionUID = 1;

        Skipped(String reason) {
            super(reason);
        }
    }

    /** A step; returns what is to be said of it. */
    private interface Body {
        String run() throws Exception;
    }

    QualifyRun(
        Place place, ControlLine line, Programs programs, Report report, Predicate<String> only, boolean isQuick) {
        this.place = place;
        this.line = line;
        this.programs = programs;
        this.report = report;
        this.only = only;
        this.isQuick = isQuick;
    }

    /** All steps that are wanted. */
    void run() throws IOException {
        report.facts("This host", Facts.of(place));
        report.facts("The other host", itsFacts());
        boolean hasDevice = place.device() != null;
        List<Exchange> exchanges = hasDevice ? List.of(Exchange.VERBS_MSG, Exchange.VERBS_RXM, Exchange.VERBS_DGRAM)
            : List.of(Exchange.TCP_MSG, Exchange.TCP_RDM, Exchange.TCP_RXM, Exchange.UDP, Exchange.PACKET);
        step("discovery", () -> discovery(exchanges));
        suites(hasDevice);
        exchanges.forEach(this::contents);
        exchanges.stream().filter(each -> each != Exchange.PACKET).limit(isQuick ? 1 : exchanges.size())
            .forEach(this::latency);
        if (hasDevice) {
            step("times of perftest", this::perftest);
        }
        for (Exchange exchange : hasDevice ? List.of(Exchange.VERBS_MSG, Exchange.VERBS_RXM)
            : List.of(Exchange.TCP_RDM, Exchange.TCP_RXM)) {
            step("rates and remote memory, " + exchange.link, () -> peers(exchange));
            step("a peer that is killed, " + exchange.link, () -> killed(exchange));
        }
        if (!hasDevice) {
            step("streams", this::stream);
        }
        line.say("bye");
    }

    private void step(String name, Body body) {
        if (!only.test(name)) {
            return;
        }
        long beganNs = System.nanoTime();
        Report.Outcome outcome = Report.Outcome.PASSED;
        String note;
        try {
            note = body.run();
        } catch (Skipped skipped) {
            outcome = Report.Outcome.SKIPPED;
            note = skipped.getMessage();
        } catch (Exception | AssertionError failure) {
            outcome = Report.Outcome.FAILED;
            note = String.valueOf(failure.getMessage());
        }
        report.step(name, outcome, (System.nanoTime() - beganNs) / NS_PER_S, note);
    }

    private List<String> itsFacts() throws IOException {
        List<String> facts = new ArrayList<>();
        line.say("facts");
        for (String said = hear(); !said.equals("done"); said = hear()) {
            facts.add(said.replaceFirst("^fact ", ""));
        }
        return facts;
    }

    private String hear() throws IOException {
        String said = line.hear((int) Deadline.s(ANSWER_S));
        if (said == null) {
            throw new IOException("the other host has ended the connection");
        }
        return said;
    }

    /** Has the other host start its side; returns what follows "ready". */
    private String start(Request request) throws IOException, Skipped {
        String missing = programs.missing(request.part());
        if (missing != null) {
            throw new Skipped(missing);
        }
        line.say("start " + request);
        String[] said = hear().split(" ", 2);
        switch (said[0]) {
            case "ready" -> {
                return said[1];
            }
            case "missing" -> throw new Skipped("on the other host: " + said[1]);
            default -> throw new IOException("on the other host: " + String.join(" ", said));
        }
    }

    /** The result of the other host's side, whose end was brought about. */
    private String end() throws IOException {
        line.say("end");
        String[] said = hear().split(" ", 2);
        if (!said[0].equals("ok")) {
            throw new IOException("on the other host: " + String.join(" ", said));
        }
        return said[1];
    }

    /** What this host's side said until its end, which must be a success. */
    private static TestProcess ended(TestProcess process, int seconds) {
        try (process) {
            process.ended(seconds);
            if (process.status() != 0) {
                throw new AssertionError("status " + process.status() + ": " + tail(process));
            }
            return process;
        } catch (AssertionError failure) {
            throw new AssertionError(process.isAlive() ? failure.getMessage() : "here: " + tail(process), failure);
        }
    }

    /** The result that a process has said, or else its last lines. */
    static String tail(TestProcess process) {
        List<String> lines = process.lines().stream().filter(line -> !line.isBlank()).toList();
        return lines.stream().filter(line -> line.startsWith("result ") || line.startsWith("Exception in thread"))
            .map(line -> line.substring(line.indexOf(' ') + 1)).findFirst()
            .orElse(String.join(" / ", lines.subList(Math.max(0, lines.size() - TAIL), lines.size())));
    }

    private String discovery(List<Exchange> exchanges) {
        List<String> command = Programs.java(FabricTool.class, "info", "--why");
        command.add(1, "-Djfabric.link.enabled=" + String.join(",", exchanges.stream().map(each -> each.link)
            .filter(link -> !link.equals("packet")).distinct().toList()));
        // a driver that runs on this host would be asked for its own links
        command.add(1, "-Djfabric.dir.base=" + Path.of(System.getProperty("java.io.tmpdir"), "jfabric-qualify-none"));
        TestProcess info = ended(TestProcess.start(command), PROGRAM_S);
        List<String> lacking = exchanges.stream().map(each -> each.link).filter(link -> !link.equals("packet")
            && info.lines().stream().noneMatch(each -> each.strip().startsWith(link + ": chosen"))).toList();
        if (!lacking.isEmpty()) {
            throw new AssertionError("not offered: " + String.join(" / ", info.lines().stream()
                .filter(each -> lacking.stream().anyMatch(link -> each.strip().startsWith(link + ':'))).toList()));
        }
        return "";
    }

    private void suites(boolean hasDevice) {
        String folder = "--select-package=" + CONFORMANCE;
        if (isQuick) {
            folder = "--select-class=" + CONFORMANCE + ".tagged.TaggedMessageTest";
        }
        String here = place.host();
        for (String link : hasDevice ? List.of("verbsrxm") : List.of("tcp", "rxm")) {
            String selected = folder;
            step("conformance, " + link, () -> suite(List.of("-Djfabric.test.link=" + link,
                "-Djfabric.test.interface=" + (hasDevice ? here : place.networkInterface()),
                "-Djfabric.test.mode=embedded"), "--include-tag=link", selected));
        }
        if (hasDevice) {
            step("conformance, remote memory by the card", () -> suite(
                List.of("-Djfabric.test.verbs=" + here + ',' + here),
                "--select-class=org.jfabric.driver.VerbsMemoryTest"));
            step("conformance, verbsud", () -> suite(List.of("-Djfabric.test.ud.hosts=" + here + ',' + here),
                "--select-class=" + CONFORMANCE + ".other.QueuePairDatagramTest"));
        } else {
            step("conformance, udp and packet on this host", () -> suite(List.of("-Djfabric.test.mode=embedded"),
                isQuick ? "--select-method=" + CONFORMANCE + ".other.MessagePrefixTest"
                    + "#shouldTransferDatagramsBehindThePrefix(org.jfabric.driver.kit.DatagramSetup)"
                    : "--select-package=" + CONFORMANCE + ".other",
                "--include-classname=.*\\.(Datagram(Burst)?|Multicast|MessagePrefix)Test"));
        }
    }

    /** Runs tests of the project in a process of their own. */
    private String suite(List<String> properties, String... selection) throws IOException {
        List<String> command = Programs.java(ConsoleLauncher.class, "execute", "--disable-banner",
            "--disable-ansi-colors", "--fail-if-no-tests", "--include-engine=junit-jupiter", "--details=testfeed");
        command.addAll(List.of(selection));
        command.addAll(1, properties);
        // behind the options of this process, which may have less memory
        command.addAll(command.indexOf("-cp"), List.of("-ea", "-Xmx1g"));
        ProcessBuilder builder = new ProcessBuilder(command);
        // there are the sources of C that tests compile
        String home = System.getenv("JFABRIC_HOME");
        builder.directory(home == null ? programs.folder() : Path.of(home, "fabric-driver").toFile());
        try (TestProcess tests = TestProcess.start(builder).ended(SUITE_S)) {
            Map<String, Integer> counts = new LinkedHashMap<>();
            Matcher figures = TESTS.matcher(tests.output());
            while (figures.find()) {
                counts.put(figures.group(2), Integer.parseInt(figures.group(1)));
            }
            List<String> failed = tests.lines().stream().filter(each -> each.contains(":: FAILED")).limit(TAIL)
                .toList();
            if (tests.status() != 0 || counts.getOrDefault("successful", 0) == 0) {
                throw new AssertionError(counts + " " + (failed.isEmpty() ? tail(tests) : failed));
            }
            return counts.get("successful") + " tests passed, "
                + (counts.getOrDefault("skipped", 0) + counts.getOrDefault("aborted", 0)) + " skipped";
        }
    }

    /** Messages of all pairs of programs, whose contents each compares. */
    private void contents(Exchange exchange) {
        for (Part server : List.of(Part.OURS, Part.THEIRS)) {
            for (Part client : List.of(Part.OURS, Part.THEIRS)) {
                boolean isOurs = server == Part.OURS && client == Part.OURS;
                if (exchange == Exchange.PACKET ? client == Part.OURS : !isQuick || !isOurs) {
                    Request request = new Request(server, exchange, true, 0, isQuick ? 2 : 100);
                    step("contents, " + exchange + ": " + name(client) + " to " + name(server),
                        () -> exchange(request, client, new LinkedHashMap<>()));
                }
            }
        }
    }

    private static String name(Part part) {
        return part == Part.OURS ? "ours" : "C";
    }

    /** Times of messages, ours with ours and C with C. */
    private void latency(Exchange exchange) {
        int[] sizes = exchange.isDatagrams() ? new int[] {64, 1024} : new int[] {64, 4096, 1 << 20};
        for (Part part : List.of(Part.OURS, Part.THEIRS)) {
            step("times, " + exchange + ": " + name(part), () -> {
                for (int size : isQuick ? new int[] {64} : sizes) {
                    Map<String, Double> us = new LinkedHashMap<>();
                    int count = isQuick ? 50 : size > 65_536 ? 500 : 20_000;
                    exchange(new Request(part, exchange, false, size, count), part, us);
                    us.forEach((bytes, time) -> report.time(exchange + ", " + bytes + " bytes",
                        part == Part.OURS ? 0 : 1, time));
                }
                return "";
            });
        }
    }

    private String exchange(Request request, Part client, Map<String, Double> us) throws Exception {
        String missing = programs.missing(client);
        if (missing != null) {
            throw new Skipped(missing);
        }
        start(request);
        TestProcess process = programs.call(request.by(client), null);
        String note = "";
        try {
            ended(process, PROGRAM_S);
        } catch (AssertionError failure) {
            if (!hasCrashedAtItsEnd(process, request)) {
                throw new AssertionError(failure.getMessage() + "; " + whatItSaid(), failure);
            }
            note = CRASHED;
        }
        try {
            end();
        } catch (IOException failure) {
            if (!String.valueOf(failure.getMessage()).contains(SIGNAL)) {
                throw failure;
            }
            note = CRASHED;
        }
        for (String each : process.lines()) {
            String[] words = each.strip().split("\\s+");
            if (words.length > TAIL && words[0].matches("\\d+[km]?")) {
                us.put(words[0], Double.parseDouble(words[words.length - 2]));
            }
        }
        if (request.sizeBytes() == 0 && !us.containsKey(last(request))) {
            throw new AssertionError("it did not come to its last size: " + tail(process));
        }
        return note;
    }

    private String whatItSaid() throws IOException {
        line.say("end");
        return "on the other host: " + hear();
    }

    private static String last(Request request) {
        return request.exchange().isDatagrams() ? "1k" : "1m";
    }

    /** libfabric issue 11828, 1.17 to 2.4: a credit that comes while an endpoint is closed ends the program. */
    private static boolean hasCrashedAtItsEnd(TestProcess process, Request request) {
        return process.output().contains(SIGNAL) && (request.sizeBytes() > 0
            || process.lines().stream().anyMatch(each -> each.startsWith(last(request) + ' ')));
    }

    private String perftest() throws Exception {
        for (Part part : List.of(Part.IB_SEND_LAT, Part.IB_WRITE_LAT)) {
            for (int size : new int[] {64, 4096}) {
                Request request = new Request(part, Exchange.VERBS_MSG, false, size, isQuick ? 100 : 10_000);
                start(request);
                TestProcess process = ended(programs.call(request, null), PROGRAM_S);
                end();
                String[] words = process.lines().stream().map(String::strip).filter(each -> each.startsWith(size + " "))
                    .findFirst().orElseThrow(() -> new AssertionError(tail(process))).split("\\s+");
                report.time(part.name().toLowerCase(Locale.ROOT) + ", " + size + " bytes", 1,
                    Double.parseDouble(words[4]));
            }
        }
        return "the typical times";
    }

    /** Our own applications; {@code isChecked} has the one here measure. */
    private String peers(Exchange exchange) throws Exception {
        Request request = new Request(Part.PEER, exchange, true, 0, isQuick ? 500 : 20_000);
        TestProcess process = programs.call(request, start(request));
        try {
            ended(process, PROGRAM_S);
        } catch (AssertionError failure) {
            throw new AssertionError(failure.getMessage() + "; " + whatItSaid(), failure);
        }
        end();
        process.lines().stream().map(TIME::matcher).filter(Matcher::matches).forEach(found -> {
            double value = Double.parseDouble(found.group(3));
            if (found.group(1).equals("rate")) {
                report.rate(exchange.link + ", " + found.group(2), value);
            } else {
                report.time(exchange.link + ", " + found.group(2), 0, value);
            }
        });
        return tail(process);
    }

    /** What is under way to a process that is killed ends in time, and the next one is reached. */
    private String killed(Exchange exchange) throws Exception {
        Request request = new Request(Part.PEER, exchange, false, 0, 100);
        String result;
        try (TestProcess process = programs.call(request, start(request))) {
            process.awaitLine("running");
            line.say("kill");
            hear();
            long killedNs = System.nanoTime();
            result = process.awaitLine("ended ");
            double seconds = (System.nanoTime() - killedNs) / NS_PER_S;
            if (seconds > Deadline.s(END_OF_LOST_S)) {
                throw new AssertionError("the last operation ended after " + seconds + " s: " + result);
            }
            process.ended();
        }
        Request again = new Request(Part.PEER, exchange, true, 0, 100);
        TestProcess next = programs.call(again, start(again));
        ended(next, PROGRAM_S);
        end();
        return result.replaceFirst("ended ", "") + ", and the next process was reached";
    }

    private String stream() throws Exception {
        Request request = new Request(Part.STREAM, Exchange.UDP, true, 0, isQuick ? 5_000 : 100_000);
        try (TestProcess writer = programs.call(request, null)) {
            writer.awaitLine("ready");
            start(request);
            writer.say("write");
            writer.awaitLine("written");
            String result = end();
            writer.say("end");
            ended(writer, PROGRAM_S);
            report.rate("stream, 0 to 119 bytes, some longer", Double.parseDouble(result.split(" ")[0]));
            return result;
        }
    }
}
