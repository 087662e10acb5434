package org.jfabric.driver;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SliceRule;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The direction of dependency between the packages of the client and of the driver, read from the class files.
 */
class DependencyRulesTest {

    private static final String DRIVER = "org.jfabric.driver";

    /** Lowest first. A layer may use the ones before it; packages of one layer may use each other. */
    private static final List<List<String>> LAYERS = List.of(
        List.of("org.jfabric.driver.ffi.."),
        List.of("org.jfabric.driver.config..", "org.jfabric.driver.resource.."),
        List.of("org.jfabric.driver.link.."),
        List.of("org.jfabric.driver.engine.."),
        List.of("org.jfabric.driver.progress.."),
        List.of("org.jfabric.driver.conductor.."));

    /**
     * The cycles between packages that there are: each of these dependencies has another way back. No other one may
     * close a cycle, and one that closes none any more has to be taken out here.
     */
    private static final List<Back> CYCLES = List.of(
        new Back("org.jfabric", "org.jfabric.client"),
        new Back("org.jfabric.driver.config", DRIVER),
        new Back("org.jfabric.driver.link.support", DRIVER),
        new Back("org.jfabric.driver.link.udp", DRIVER),
        new Back("org.jfabric.driver.link.verbsud", DRIVER),
        new Back("org.jfabric.driver.conductor.command", "org.jfabric.driver.conductor"));

    private static final SliceAssignment PACKAGES = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    };

    private static JavaClasses classes;

    @BeforeAll
    static void importClasses() {
        classes = new ClassFileImporter()
            .withImportOption(DependencyRulesTest::isMainCode)
            .importPackages("org.jfabric");
    }

    @TestFactory
    List<DynamicTest> shouldDependOnlyOnLowerLayers() {
        return LAYERS.stream()
            .map(layer -> DynamicTest.dynamicTest(String.join(", ", layer), () -> check(noClasses()
                .that().resideInAnyPackage(layer.toArray(String[]::new))
                .should().dependOnClassesThat(isAbove(LAYERS.indexOf(layer)))
                .because("ffi <- config, resource <- link <- engine <- progress <- conductor <- driver"))))
            .toList();
    }

    @Test
    void shouldNotNameConcreteLinksInTheEngine() {
        check(noClasses().that().resideInAPackage("org.jfabric.driver.engine..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.driver.link.*..")
            .because("the semantics are the same over every link"));
    }

    @Test
    void shouldCallTheReceiverOnlyFromAbove() {
        check(noClasses().that().resideInAPackage("org.jfabric.driver.engine..")
            .and().haveNameMatching(
                ".*\\.(Expected|Ended|Ordinary|Multi|Buffered|Waiting|Reached|Peeks|Pulls|Stream|Source|Receive[^r]).*")
            .should().dependOnClassesThat().haveSimpleName("Receiver")
            .because("Receiver -> modes -> peeks -> waiting messages -> pulls -> ended receives"));
    }

    @Test
    void shouldNotNameConcreteLinksInTheLinkInterface() {
        check(noClasses().that().resideInAPackage("org.jfabric.driver.link")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.driver.link.*..")
            .because("links are plugged into the interface, not known to it"));
    }

    @Test
    void shouldNotNameOneLinkInAnother() {
        slices().matching("org.jfabric.driver.link.(*)..").should().notDependOnEachOther()
            .ignoreDependency(alwaysTrue(), resideInAPackage("org.jfabric.driver.link.support"))
            .because("what links share is in the interface or in link.support, which names none of them")
            .allowEmptyShould(true).check(classes);
    }

    @Test
    void shouldLinkNativeCodeOnlyInTheTwoFfiPackages() {
        check(noClasses().that().resideOutsideOfPackages("org.jfabric.ffi..", "org.jfabric.driver.ffi..")
            .should().dependOnClassesThat().belongToAnyOf(Linker.class, SymbolLookup.class)
            .because("native calls are bound in one place per module"));
    }

    @Test
    void shouldUseTheWireCodecsOnlyInTheDriver() {
        check(noClasses().that().resideOutsideOfPackages("org.jfabric.driver..", "org.jfabric.codec.wire..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.codec.wire..")
            .because("frames between drivers are no matter of clients and tools"));
    }

    @Test
    void shouldKeepTheCodecsFreeOfOurOwnCode() {
        check(noClasses().that().resideInAPackage("org.jfabric.codec..")
            .should().dependOnClassesThat(resideInAPackage("org.jfabric..")
                .and(not(resideInAPackage("org.jfabric.codec.."))))
            .because("codecs are generated from the schemas alone"));
    }

    @Test
    void shouldNotNameTheDriverInTheClient() {
        check(noClasses().that().resideInAnyPackage("org.jfabric", "org.jfabric.future..", "org.jfabric.client..",
                "org.jfabric.layout..", "org.jfabric.ffi..")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric.driver..", "org.jfabric.tool..")
            .because("the client reaches an embedded driver through the port in org.jfabric.client"));
    }

    @Test
    void shouldUseOnlyThePublicApiInFutures() {
        check(noClasses().that().resideInAPackage("org.jfabric.future..")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric.client..", "org.jfabric.layout..",
                "org.jfabric.ffi..", "org.jfabric.codec..")
            .because("the convenience layer could as well be an application's own"));
    }

    @Test
    void shouldNotNameFuturesInTheDataPath() {
        check(noClasses().that().resideInAnyPackage("org.jfabric", "org.jfabric.client..", "org.jfabric.driver..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.future..")
            .because("it may allocate"));
    }

    @Test
    void shouldKeepTheLayoutsAndNativeCallsBelowTheClient() {
        check(noClasses().that().resideInAnyPackage("org.jfabric.layout..", "org.jfabric.ffi..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.client..")
            .because("both the client and the driver stand on them"));
    }

    @Test
    void shouldNotNameTheToolsAnywhereElse() {
        check(noClasses().that().resideOutsideOfPackage("org.jfabric.tool..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.tool..")
            .because("tools stand on top"));
    }

    @Test
    void shouldHaveNoCyclesBetweenPackagesButTheKnownOnes() {
        noCyclesBut(CYCLES).check(classes);
    }

    @Test
    void shouldForgetCyclesThatAreGone() {
        Map<String, Set<String>> uses = new HashMap<>();
        for (JavaClass type : classes) {
            Set<String> used = uses.computeIfAbsent(type.getPackageName(), name -> new HashSet<>());
            type.getDirectDependenciesFromSelf().forEach(
                dependency -> used.add(dependency.getTargetClass().getPackageName()));
        }
        List<Back> gone = new ArrayList<>(CYCLES);
        gone.removeIf(known -> uses.getOrDefault(known.from(), Set.of()).remove(known.to())
            && reaches(uses, known.to(), known.from(), new HashSet<>()));
        assertEquals(List.of(), gone, "these close no cycle any more, take them out of CYCLES");
    }

    @Test
    void shouldFailWhenARuleIsBroken() {
        JavaClasses thisTest = new ClassFileImporter().importClasses(DependencyRulesTest.class);
        ArchRule rule = noClasses().should().dependOnClassesThat().belongToAnyOf(Linker.class);
        assertThrows(AssertionError.class, () -> rule.check(thisTest));
    }

    private static boolean reaches(Map<String, Set<String>> uses, String from, String to, Set<String> seen) {
        return from.equals(to) || seen.add(from)
            && uses.getOrDefault(from, Set.of()).stream().anyMatch(next -> reaches(uses, next, to, seen));
    }

    private static SliceRule noCyclesBut(List<Back> known) {
        SliceRule rule = slices().assignedFrom(PACKAGES).namingSlices("$1").should().beFreeOfCycles();
        for (Back dependency : known) {
            rule = rule.ignoreDependency(
                resideInAPackage(dependency.from()), resideInAPackage(dependency.to()));
        }
        return rule;
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(classes);
    }

    /** Packages of the layers above, and the driver's own; its enums are options, which every layer may read. */
    private static DescribedPredicate<JavaClass> isAbove(int layer) {
        String[] packages = LAYERS.stream().skip(layer + 1L).flatMap(List::stream).toArray(String[]::new);
        return resideInAnyPackage(packages)
            .or(resideInAPackage(DRIVER).and(not(DescribedPredicate.describe("enums", JavaClass::isEnum))))
            .as("reside in a higher layer");
    }

    private static boolean isMainCode(Location location) {
        return !location.contains("/test-classes/") && !location.contains("-tests.jar");
    }

    /** A dependency that closes a cycle. */
    private record Back(String from, String to) {
    }
}
