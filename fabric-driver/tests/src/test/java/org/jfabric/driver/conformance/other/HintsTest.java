package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.rxm.RxmLinks;
import org.jfabric.driver.link.shm.ShmLinkProvider;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.tcp.tls.TlsLinks;
import org.jfabric.driver.link.udp.dtls.DtlsLinks;
import org.jfabric.driver.link.udp.packet.PacketLinkProvider;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinks;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Reason;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.info.Verdict;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every member of the hints over every link: a value that the link has is met, and one that it does not have is refused
 * by a verdict that names the member. A link without its devices is refused anyway; its verdict is compared all the
 * same.
 */
@Tag("conformance")
@Timeout(120)
class HintsTest {
    private static final List<Class<?>> STRUCTURES = List.of(
        Info.class, TxAttr.class, RxAttr.class, EndpointAttr.class, DomainAttr.class, FabricAttr.class);

    private Path base;
    private FabricDriver driver;
    private Fabric fabric;

    @BeforeEach
    void open() {
        base = TestDirectory.create();
        driver = FabricDriver.launchEmbedded(config());
        fabric = driver.fabric();
    }

    @AfterEach
    void close() {
        driver.close();
        TestDirectory.delete(base);
    }

    static Stream<String> links() {
        return providers().stream().map(LinkProvider::name);
    }

    @Test
    @Requirement("REF-001")
    void shouldHaveARowForEveryMember() {
        Set<String> expected = new HashSet<>();
        for (Class<?> structure : STRUCTURES) {
            for (Method setter : structure.getDeclaredMethods()) {
                if (setter.getReturnType() == structure && setter.getParameterCount() == 1) {
                    expected.add(structure.getSimpleName() + '.' + setter.getName());
                }
            }
        }
        Set<String> found = new HashSet<>();
        for (HintTable.Row row : HintTable.rows()) {
            assertTrue(found.add(row.toString()), () -> row + " has two rows");
        }
        assertEquals(expected, found);
    }

    @ParameterizedTest(name = "link={0}")
    @MethodSource("links")
    @Requirement("REF-001")
    void shouldMeetWhatTheLinkHas(String link) {
        Info offer = offer(link);
        Verdict plain = verdict(fabric.info(new Info()), link);
        for (HintTable.Row row : HintTable.rows()) {
            for (BiConsumer<Info, Info> met : row.met()) {
                Info hints = new Info();
                met.accept(hints, offer);
                InfoResult result = fabric.info(hints);
                assertEquals(plain, verdict(result, link), () -> row + " of " + hints);
                if (plain.chosen()) {
                    Info match = match(result, link);
                    assertNotNull(match, row::toString);
                    assertTrue(row.holds().in(match, hints), () -> row + " of " + hints + " became " + match);
                }
            }
        }
    }

    @ParameterizedTest(name = "link={0}")
    @MethodSource("links")
    @Requirement("REF-001")
    void shouldRefuseWhatTheLinkDoesNotHave(String link) {
        Info offer = offer(link);
        for (HintTable.Row row : HintTable.rows()) {
            for (BiConsumer<Info, Info> beyond : row.beyond()) {
                Info hints = new Info();
                beyond.accept(hints, offer);
                if (hints.epAttr().type() == EndpointType.SOCK_STREAM && link.equals("tcp")) {
                    // the link has this type where it is requested; another link has the other one
                    hints.epAttr().type(EndpointType.SOCK_DGRAM);
                }
                if (hints.toString().equals(new Info().toString())) {
                    // the link has every value
                    continue;
                }
                InfoResult result = fabric.info(hints);
                Verdict verdict = verdict(result, link);
                assertFalse(verdict.chosen(), () -> row + " of " + hints);
                List<Reason> named = new ArrayList<>(verdict.reasons());
                named.removeIf(reason -> !reason.condition().equals(row.condition()));
                assertFalse(named.isEmpty(), () -> row + ": " + verdict);
                if (row.asked() != null) {
                    Object asked = row.asked().apply(hints);
                    assertTrue(named.stream().anyMatch(reason -> reason.toString().contains(String.valueOf(asked))),
                        () -> row + " shows not " + asked + ": " + verdict);
                }
            }
        }
    }

    /** One level, and one that can be asked for; whether it holds is shown where completions are. */
    @ParameterizedTest(name = "link={0}")
    @MethodSource("links")
    @Requirement("CL-026")
    void shouldReportTheDefaultLevelOfCompletions(String link) {
        long level = Set.of("tcp", "rxm", "tls", "tlsrxm", "verbsrxm").contains(link)
            ? Flags.INJECT_COMPLETE : Flags.TRANSMIT_COMPLETE;
        assertEquals(level, offer(link).txAttr().opFlags());
        Info hints = new Info();
        hints.txAttr().opFlags(level);
        assertEquals(verdict(fabric.info(new Info()), link), verdict(fabric.info(hints), link));
    }

    /** These defaults of operations are no property of a link, so that no link may refuse them. */
    @ParameterizedTest(name = "link={0}")
    @MethodSource("links")
    @Requirement("REF-001")
    void shouldAllowEntriesAndInjectionAsDefaultsOfSendsOverEveryLink(String link) {
        Verdict plain = verdict(fabric.info(new Info()), link);
        for (long flags : new long[] {Flags.COMPLETION, Flags.INJECT, Flags.COMPLETION | Flags.INJECT}) {
            Info hints = new Info();
            hints.txAttr().opFlags(flags);
            assertEquals(plain, verdict(fabric.info(hints), link), () -> "hints " + hints);
        }
    }

    /** Host and port are resolved before the links are asked. */
    @Test
    @Requirement("REF-001")
    void shouldMatchAHostAndAPortAsTheirSocketAddress() {
        Info hints = new Info().linkName("tcp");
        String address = "fi_sockaddr_in://127.0.0.1:20001";
        assertEquals(address, fabric.info(hints, "127.0.0.1", "20001", 0).best().destAddr());
        assertEquals(address, fabric.info(hints, "127.0.0.1", "20001", Flags.SOURCE).best().srcAddr());
        assertEquals(address, fabric.info(hints, address, null, 0).best().destAddr());
    }

    @Test
    @Requirement("REF-001")
    void shouldHaveNoDataWhenNoLinkMeetsTheHints() {
        Info hints = new Info();
        hints.domainAttr().cntrCnt(1L << 40);
        FabricException refused = assertThrows(FabricException.class, () -> fabric.info(hints).best());
        assertEquals(FabricErrno.ENODATA, refused.errno());
        assertTrue(fabric.info(hints).explain().contains("domain_attr.cntr_cnt: seen 16384, needed 1099511627776"),
            fabric.info(hints)::explain);
    }

    private DriverConfig config() {
        DriverConfig.Builder config = DriverConfig.builder().set("jfabric.dir.base", base.toString())
            .set("jfabric.dir.name", "hints").set("jfabric.threading.mode", "INVOKER")
            .set("jfabric.link.enabled", String.join(",", links().toList()));
        String[] keys = TestKeys.shared().options();
        for (int i = 0; i < keys.length; i += 2) {
            config.set(keys[i], keys[i + 1]);
        }
        return config.build();
    }

    private static List<LinkProvider> providers() {
        List<LinkProvider> plain = List.of(new LoopbackLinkProvider(), new ShmLinkProvider(), new TcpLinkProvider(),
            new UdpLinkProvider(), new PacketLinkProvider());
        List<LinkProvider> all = new ArrayList<>(plain);
        for (LinkSource source : List.of(new TlsLinks(), new DtlsLinks(), new VerbsLinks(), new RxmLinks())) {
            all.addAll(source.links(List.copyOf(all)));
        }
        return all;
    }

    /** What the link offers to those who ask for nothing, whether its devices are here or not. */
    private Info offer(String link) {
        LinkProvider provider =
            providers().stream().filter(each -> each.name().equals(link)).findFirst().orElseThrow();
        return provider.info(new Info(), "hints", config());
    }

    private static Verdict verdict(InfoResult result, String link) {
        return result.verdicts().stream().filter(each -> each.linkName().equals(link)).findFirst().orElseThrow();
    }

    private static Info match(InfoResult result, String link) {
        return result.matches().stream().filter(each -> link.equals(each.fabricAttr().provName())).findFirst()
            .orElse(null);
    }
}
