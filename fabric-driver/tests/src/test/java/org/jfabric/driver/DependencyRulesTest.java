package org.jfabric.driver;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jfabric.test.MainSources;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The direction of dependency between the packages of the client and of the driver, read from the class files.
 */
class DependencyRulesTest {

    private static final String DRIVER = "org.jfabric.driver";
    private static final String ENGINE = "org.jfabric.driver.engine";
    /** Lower it when a knot gets smaller. */
    private static final int MOST_IN_A_KNOT = 23;

    /** Lowest first. A layer may use the ones before it; packages of one layer may use each other. */
    private static final List<List<String>> LAYERS = List.of(
        List.of("org.jfabric.driver.ffi.."),
        List.of("org.jfabric.driver.config..", "org.jfabric.driver.resource..", "org.jfabric.driver.log..",
            "org.jfabric.driver.tls.."),
        List.of("org.jfabric.driver.link..", "org.jfabric.driver.stream", "org.jfabric.driver.stream.net..",
            "org.jfabric.driver.stream.record.."),
        List.of("org.jfabric.driver.engine.."),
        List.of("org.jfabric.driver.stream.table.."),
        List.of("org.jfabric.driver.progress.."),
        List.of("org.jfabric.driver.conductor.."));

    /** Superclasses with a single subclass in their package, and why. */
    private static final Map<String, String> SINGLE_SUBCLASS = new TreeMap<>(Map.of(
        "CompletionReader", "queues that end with their driver pay nothing for those that outlive it",
        "ConnectionListener", "callbacks of a connection, which needs no more of its endpoint",
        "PeerContext", "all that peers may use of their endpoint",
        "PayloadHandler", "wires that have a payload to pull, but no credit, need no more",
        "ModeSubmission", "and endpoints without the checks of API version 2.x nothing for these",
        "Submission", "endpoints without modes pay nothing for those that have one",
        "QueueVisitor", "callbacks of the walk through an endpoint's records",
        "VerbsDataPath", "tests and benchmarks have a device of Java methods"));

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
                .because("ffi <- config, resource, log <- link <- engine <- progress <- conductor <- driver"))))
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
        check(noClasses().that().resideOutsideOfPackages("org.jfabric.driver..", "org.jfabric.codec.wire..",
                "org.jfabric.codec.stream..")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric.codec.wire..", "org.jfabric.codec.stream..")
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
        check(noClasses().that().resideInAnyPackage("org.jfabric", "org.jfabric.info..", "org.jfabric.future..",
                "org.jfabric.stream..", "org.jfabric.client..", "org.jfabric.layout..",
                "org.jfabric.ffi..")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric.driver..", "org.jfabric.tool..")
            .because("the client reaches an embedded driver through the port in org.jfabric.client"));
    }

    @Test
    void shouldUseOnlyThePublicApiInFuturesAndStreams() {
        check(noClasses().that().resideInAnyPackage("org.jfabric.future..", "org.jfabric.stream..")
            // it reads files and needs no driver
            .and().doNotHaveSimpleName("LogReader")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric.client..", "org.jfabric.layout..",
                "org.jfabric.ffi..", "org.jfabric.codec..")
            .because("they could as well be an application's own"));
    }

    @Test
    void shouldNotNameFuturesInTheDataPath() {
        check(noClasses().that().resideInAnyPackage("org.jfabric", "org.jfabric.client..", "org.jfabric.driver..")
            .should().dependOnClassesThat().resideInAPackage("org.jfabric.future..")
            .because("it may allocate"));
    }

    @Test
    void shouldKeepTheInfosBelowTheClient() {
        check(noClasses().that().resideInAPackage("org.jfabric.info..")
            .should().dependOnClassesThat().resideInAnyPackage("org.jfabric", "org.jfabric.client..",
                "org.jfabric.future..", "org.jfabric.driver..")
            .because("attributes, codes and names are the ground floor of the API"));
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
    void shouldHaveNoCyclesBetweenPackages() {
        slices().assignedFrom(PACKAGES).namingSlices("$1").should().beFreeOfCycles().check(classes);
    }

    /**
     * A knot: classes of the engine of which each needs each other one, directly or not. Nested classes count as their
     * outermost one. What is left is receives with their modes, messages and peers; then sends with the table of peers;
     * then endpoints with what owns them.
     */
    @Test
    void shouldKeepTheKnotsOfTheEngineSmall() {
        Map<String, Set<String>> needed = new TreeMap<>();
        for (JavaClass type : classes) {
            if (type.getPackageName().equals(ENGINE)) {
                Set<String> ofType = needed.computeIfAbsent(outermost(type), name -> new TreeSet<>());
                type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getPackageName().equals(ENGINE))
                    .forEach(target -> ofType.add(outermost(target)));
            }
        }
        Map<String, Set<String>> reached = new TreeMap<>();
        needed.keySet().forEach(type -> reach(type, needed, reached.computeIfAbsent(type, name -> new TreeSet<>())));
        Set<String> largest = Set.of();
        for (Map.Entry<String, Set<String>> from : reached.entrySet()) {
            Set<String> knot = new TreeSet<>(from.getValue());
            knot.removeIf(type -> !reached.get(type).contains(from.getKey()));
            largest = knot.size() > largest.size() ? knot : largest;
        }
        assertTrue(largest.size() <= MOST_IN_A_KNOT, largest.size() + " classes that need each other: " + largest);
    }

    private static void reach(String type, Map<String, Set<String>> needed, Set<String> reached) {
        needed.get(type).stream().filter(reached::add).forEach(next -> reach(next, needed, reached));
    }

    private static String outermost(JavaClass type) {
        return type.getName().substring(ENGINE.length() + 1).replaceFirst("\\$.*", "");
    }

    @Test
    void shouldHaveNoSuperclassWithOneSubclassBesideItWithoutReason() {
        Map<String, List<String>> found = new TreeMap<>();
        for (JavaClass type : classes) {
            if (type.isInterface() || type.isEnum() || type.getPackageName().startsWith("org.jfabric.codec")) {
                continue;
            }
            Set<JavaClass> subclasses = type.getSubclasses();
            if (subclasses.size() == 1
                && subclasses.iterator().next().getPackageName().equals(type.getPackageName())) {
                found.put(type.getSimpleName(), List.of(subclasses.iterator().next().getName()));
            }
        }
        assertEquals(SINGLE_SUBCLASS.keySet(), found.keySet(), () -> "one class would do: " + found);
    }

    /** Generated codecs are not among them: SBE makes some classes once for each schema. */
    @Test
    void shouldGiveEachClassANameOfItsOwn() throws IOException {
        Map<String, List<Path>> sources = new TreeMap<>();
        for (Path folder : MainSources.folders("")) {
            addSources(folder, sources);
        }
        assertTrue(sources.containsKey("Fabric.java"), "the sources were found");
        sources.values().removeIf(paths -> paths.size() == 1);
        assertEquals(Map.of(), sources, "simple names of several classes");
    }

    private static void addSources(Path tree, Map<String, List<Path>> sources) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            paths.filter(path -> path.toString().matches(".*/(?!(package|module)-info)\\w+\\.java")).forEach(path ->
                sources.computeIfAbsent(path.getFileName().toString(), name -> new ArrayList<>()).add(path));
        }
    }

    @Test
    void shouldFailWhenARuleIsBroken() {
        JavaClasses thisTest = new ClassFileImporter().importClasses(DependencyRulesTest.class);
        ArchRule rule = noClasses().should().dependOnClassesThat().belongToAnyOf(Linker.class);
        assertThrows(AssertionError.class, () -> rule.check(thisTest));
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(classes);
    }

    /** Packages of the layers above, and the driver's own. */
    private static DescribedPredicate<JavaClass> isAbove(int layer) {
        String[] packages = LAYERS.stream().skip(layer + 1L).flatMap(List::stream).toArray(String[]::new);
        return resideInAnyPackage(packages)
            .or(resideInAPackage(DRIVER))
            .as("reside in a higher layer");
    }

    private static boolean isMainCode(Location location) {
        // the simulation reaches into the packages of links and driver, and knows the tools
        return Stream.of("/test-classes/", "-tests.jar", "/simulation/target/", "jfabric-simulation")
            .noneMatch(location::contains);
    }
}
