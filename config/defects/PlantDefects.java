import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.classinfo.ClassName;
import org.pitest.mutationtest.EngineArguments;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.gregor.config.GregorEngineFactory;

/**
 * Plants defects in compiled classes, one at a time, and runs tests and the simulation until one of them fails. The
 * operators and the bytecode are PIT's. PIT itself is not used to run the tests, because it knows neither the
 * simulation nor tests in several processes.
 */
final class PlantDefects {
    private static final Path WORK = Path.of("target/defects");
    private static final Path JUDGED = WORK.resolve("judged");
    private static final Path EQUIVALENT = Path.of("config/defects/equivalent");
    private static final Path CLIENT = Path.of("fabric-client/target");
    private static final Path DRIVER = Path.of("fabric-driver/target");
    private static final Path TESTS = Path.of("fabric-driver/tests/target");
    private static final String LIVES = "lives";
    /** Before the name of the last search that did not find a defect which others still look for. */
    private static final String NOT_BY = "not by ";
    private static final int WANTED_PERCENT = 95;
    /** The status of a process that has crashed is this and the number of the signal. */
    private static final int SIGNALLED = 128;

    /** Where defects are planted, an equal number in each. The path is that of the packages below the classes. */
    private enum Room {
        ENGINE(DRIVER, "org/jfabric/driver/engine/.*"),
        LINKS(DRIVER, "org/jfabric/driver/link/(loopback|rxm|shm|support|tcp)/.*"),
        CLIENT(PlantDefects.CLIENT, "org/jfabric/([^/]*|client/.*|layout/.*)"),
        CONDUCTOR(DRIVER, "org/jfabric/driver/conductor/.*"),
        /** Groups, their recorder and logs, and tables, in the driver. */
        STREAMS(DRIVER, "org/jfabric/driver/stream/.*"),
        /** The same in the client. */
        READERS(PlantDefects.CLIENT, "org/jfabric/(stream/.*|client/log/.*|Table[^/]*|layout/(Group|Log|Table)[^/]*)");

        /** Those of old runs; what they chose stays the same. */
        static final List<Room> FIRST = List.of(ENGINE, LINKS, CLIENT, CONDUCTOR);

        private final Path target;
        private final String pattern;

        Room(Path target, String pattern) {
            this.target = target;
            this.pattern = pattern;
        }

        Path classes() {
            return target.resolve("classes");
        }

        String scan() {
            Path tests = target.equals(DRIVER) ? TESTS : target;
            return "--scan-classpath=" + tests.resolve("test-classes").toAbsolutePath();
        }
    }

    /** A defect. Its name stays the same as long as the code of its method does. */
    private record Defect(Room room, MutationDetails details) {
        String name() {
            return details.getClassName() + "." + details.getMethod() + details.getId().getLocation().getMethodDesc()
                + " " + details.getMutator().replaceAll(".*\\.", "") + " " + details.getFirstIndex();
        }

        String method() {
            return details.getId().getLocation().toString();
        }

        Defect in(Room other) {
            return new Defect(other, details);
        }

        @Override
        public String toString() {
            return details.getFilename() + ":" + details.getLineNumber() + " " + details.getMethod() + ": "
                + details.getDescription();
        }
    }

    /** Programs that look for a defect, in this order. */
    private enum Search {
        /** The tests that are beside the class. */
        PACKAGE(180) {
            @Override
            List<String> command(Defect defect, Path classes) {
                String ofPackage = defect.details.getClassName().getPackage().asJavaName();
                // a selected package has those below it, too
                return tests(classes, "unit", "\\Q" + ofPackage + ".\\E[^.]*Test", "--select-package=" + ofPackage,
                    FAST_TAGS);
            }
        },
        /** Tests of the driver that concern the class, fast and slow ones: they are a small part of all. */
        NEAR(1200) {
            @Override
            List<String> command(Defect defect, Path classes) {
                List<String> near = near(defect);
                return near.isEmpty() ? List.of() : tests(classes, "slow", ANY_TEST, "--exclude-tag=compiled",
                    near.stream().map(name -> "--select-class=" + name).toList());
            }
        },
        SIMULATION(60) {
            @Override
            List<String> command(Defect defect, Path classes) {
                List<String> command = java(classes, "");
                command.addAll(List.of("org.jfabric.simulation.SimulateCommand", "--seeds", "1000000"));
                if (!Room.FIRST.contains(defect.room)) {
                    command.addAll(List.of("--traffic", "recorded", "--seconds", "0.006"));
                }
                return command;
            }
        },
        MODULE(900) {
            @Override
            List<String> command(Defect defect, Path classes) {
                return tests(classes, "unit", ANY_TEST, defect.room.scan(), FAST_TAGS);
            }
        },
        /** The other tests with processes of their own, of the driver: they are those of the client too. */
        SLOW(2400) {
            @Override
            List<String> command(Defect defect, Path classes) {
                return tests(classes, "slow", ANY_TEST, Room.ENGINE.scan(), Stream.concat(Stream.of(SLOW_TAGS),
                    near(defect).stream().map(name -> "--exclude-classname=" + Pattern.quote(name))).toList());
            }
        };

        private static final String ANY_TEST = ".*Test";
        private static final String SLOW_TAGS = "--include-tag=slow|hostile|conformance";
        private static final List<String> FAST_TAGS = List.of(
            "--exclude-tag=slow", "--exclude-tag=hostile", "--exclude-tag=conformance", "--exclude-tag=compiled");

        private final int limitS;

        Search(int limitS) {
            this.limitS = limitS;
        }

        /** Empty if there is nothing to run. */
        abstract List<String> command(Defect defect, Path classes);

        /** The search before this one, as a verdict. */
        String verdictBefore() {
            return ordinal() == 0 ? "" : values()[ordinal() - 1].verdictAfter();
        }

        /** The verdict on a defect that this search has not found. */
        String verdictAfter() {
            return ordinal() == values().length - 1 ? LIVES : NOT_BY + name().toLowerCase(Locale.ROOT);
        }

        /**
         * Test classes of the driver that refer to the class of the defect, or whose names share a word with its name:
         * {@code ScalableEndpointTest} is near {@code EndpointLinks}.
         */
        private static List<String> near(Defect defect) {
            String changed = defect.details.getClassName().asInternalName().replaceAll("\\$.*", "");
            List<String> words = Stream.of(changed.replaceAll(".*/", "").split("(?=[A-Z])"))
                .map(word -> word.replaceAll("(s|er|or)$", "")).filter(word -> word.length() > 3).toList();
            Path all = TESTS.resolve("test-classes");
            try (Stream<Path> files = Files.walk(all)) {
                return files.filter(file -> file.toString().endsWith("Test.class"))
                    .filter(file -> words.stream().anyMatch(file.getFileName().toString()::contains)
                        || refers(file, changed))
                    .map(file -> all.relativize(file).toString().replace(".class", "").replace('/', '.'))
                    .filter(name -> !name.contains("$")).sorted().toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Names of classes are text in class files. */
        private static boolean refers(Path file, String name) {
            try {
                return Pattern.compile("(?<![A-Za-z/])L?" + Pattern.quote(name) + "(?![A-Za-z0-9])")
                    .matcher(Files.readString(file, StandardCharsets.ISO_8859_1)).find();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static List<String> tests(
            Path classes, String phase, String names, String selection, List<String> tags) {
            List<String> command = java(classes, phase);
            command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute", "--fail-fast",
                "--disable-banner", "--disable-ansi-colors", "--details=none", "--include-classname=" + names,
                selection));
            command.addAll(tags);
            return command;
        }
    }

    private final Map<String, String> judged = new TreeMap<>();
    private final Map<String, String> equivalent = new HashMap<>();
    private final Mutater mutater;
    private long seed = 1;
    private int count = 60;
    private int jobs = 1;
    private boolean again;
    private boolean lists;
    private List<Room> rooms = Room.FIRST;
    /** The only defect to be judged, null for all. */
    private String named;
    /** The tests that judge it. */
    private List<String> tests = List.of();

    private PlantDefects(String[] args) throws IOException {
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--seed" -> seed = Long.parseLong(args[++i]);
                case "--count" -> count = Integer.parseInt(args[++i]);
                case "--jobs" -> jobs = Integer.parseInt(args[++i]);
                case "--again" -> again = true;
                case "--list" -> lists = true;
                case "--rooms" -> rooms = Stream.of(args[++i].split(","))
                    .map(name -> Room.valueOf(name.toUpperCase(Locale.ROOT))).toList();
                case "--defect" -> named = args[++i];
                case "--tests" -> tests = List.of(args[++i].split(","));
                default -> throw new IllegalArgumentException("unknown: " + args[i]);
            }
        }
        for (String line : Files.readAllLines(EQUIVALENT)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split("\t");
                if (parts.length != 2) {
                    throw new IllegalStateException("no reason in " + EQUIVALENT + ": " + line);
                }
                equivalent.put(parts[0], parts[1]);
            }
        }
        if (Files.exists(JUDGED)) {
            for (String line : Files.readAllLines(JUDGED)) {
                String[] parts = line.split("\t");
                judged.put(parts[0], parts[1]);
            }
        }
        // PIT also reads the classes that a changed one refers to
        ClassLoader classes = classes();
        ClassByteArraySource source = name -> bytes(classes, name.replace('.', '/') + ".class");
        mutater = new GregorEngineFactory().createEngine(EngineArguments.arguments()).createMutator(source);
    }

    private static ClassLoader classes() throws IOException {
        List<URL> places = new ArrayList<>(List.of(DRIVER.resolve("classes").toUri().toURL()));
        String path = Files.readString(WORK.resolve("path-of-jfabric-driver-tests")).strip();
        for (String file : path.split(File.pathSeparator)) {
            places.add(Path.of(file).toUri().toURL());
        }
        return new URLClassLoader(places.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static Optional<byte[]> bytes(ClassLoader classes, String file) {
        try (InputStream stream = classes.getResourceAsStream(file)) {
            return stream == null ? Optional.empty() : Optional.of(stream.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> java(Path classes, String phase) {
        try {
            String path = String.join(File.pathSeparator, classes.toAbsolutePath().toString(),
                DRIVER.resolve("classes").toAbsolutePath().toString(),
                TESTS.resolve("test-classes").toAbsolutePath().toString(),
                Files.readString(WORK.resolve("path-of-jfabric-driver-tests")).strip(),
                Files.readString(WORK.resolve("path-of-tools")).strip());
            return new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx1g", "-ea",
                "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dagrona.strict.alignment.checks=true", "-Djfabric.test.phase=" + phase, "-Djfabric.test.all=false",
                "-cp", path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Defect> all(Room room) throws IOException {
        List<Path> classes;
        try (Stream<Path> files = Files.walk(room.classes())) {
            classes = files.map(room.classes()::relativize)
                .filter(file -> file.toString().matches(room.pattern + "\\.class")).sorted().toList();
        }
        List<Defect> all = new ArrayList<>();
        for (Path file : classes) {
            String name = file.toString().replace(".class", "").replace('/', '.');
            mutater.findMutations(ClassName.fromString(name)).stream()
                .filter(details -> !Set.of("toString", "<clinit>", "hashCode", "equals").contains(details.getMethod()))
                .map(details -> new Defect(room, details)).forEach(all::add);
        }
        all.sort(Comparator.comparing(Defect::name));
        return all;
    }

    /** The same seed chooses the same defects in the same code. At most one is in a method. */
    private List<Defect> choose() throws IOException {
        List<Defect> chosen = new ArrayList<>();
        for (int i = 0; i < rooms.size(); i++) {
            List<Defect> all = all(rooms.get(i));
            SplittableRandom random = new SplittableRandom(seed * rooms.size() + i);
            Set<String> methods = new HashSet<>();
            int wanted = (count + i) / rooms.size();
            while (wanted > 0 && !all.isEmpty()) {
                Defect defect = all.remove(random.nextInt(all.size()));
                if (!equivalent.containsKey(defect.name()) && methods.add(defect.method())) {
                    chosen.add(defect);
                    wanted--;
                }
            }
        }
        return chosen;
    }

    /** Whether the search has found it, and how. */
    private String judge(Search search, Defect defect, Path work) throws IOException, InterruptedException {
        Path classes = work.resolve("classes");
        Path mutated = classes.resolve(defect.details.getClassName().asInternalName() + ".class");
        Files.createDirectories(mutated.getParent());
        try {
            Files.write(mutated, mutater.getMutation(defect.details.getId()).getBytes());
            String found = search(search, defect, classes, work.resolve("output"));
            return found == null ? search.verdictAfter() + "\t" : search.name().toLowerCase(Locale.ROOT) + "\t" + found;
        } finally {
            Files.deleteIfExists(mutated);
        }
    }

    /** Why the search has failed; null if it has not. */
    private static String search(Search search, Defect defect, Path classes, Path output)
        throws IOException, InterruptedException {
        List<String> command = search.command(defect, classes);
        return command.isEmpty() ? null : run(search, command, defect, output);
    }

    private static String run(Search search, List<String> command, Defect defect, Path output)
        throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
            .directory(defect.room.target.getParent().toFile())
            .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = process.waitFor(search.limitS, TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            // on a busy machine the tests of a package may take longer, and those of the module are next
            return search == Search.SIMULATION || search == Search.PACKAGE ? null
                : "no end within " + search.limitS + " s";
        }
        int status = process.exitValue();
        // 2: there are no such tests
        if (status == 0 || status == 2 && (search == Search.PACKAGE || search == Search.NEAR)) {
            return null;
        }
        if (search != Search.SIMULATION && status != 1 && status < SIGNALLED) {
            // not a failed test: the tests could not be run. A JVM that has crashed has found the defect
            throw new IllegalStateException("status " + status + ", see " + output.toAbsolutePath());
        }
        return reason(Files.readString(output, StandardCharsets.UTF_8), status);
    }

    private static String reason(String output, int status) {
        List<String> lines = output.lines().map(String::strip).toList();
        String test = lines.stream().filter(line -> line.contains("MethodSource [") || line.contains("FAILED with"))
            .findFirst().orElse("");
        String cause = lines.stream().filter(line -> line.startsWith("=> ") || line.contains("SimulationFailure: "))
            .findFirst().orElse("status " + status);
        String both = test.replaceAll(".*className = '([^']*)', methodName = '([^']*)'.*", "$1.$2") + " " + cause;
        return both.strip().replace('\t', ' ').substring(0, Math.min(200, both.strip().length()));
    }

    /** Judges one defect by the named tests; what they do not find remains as it was judged. */
    private boolean judgeByTests(List<Defect> chosen) throws IOException, InterruptedException {
        Defect defect = chosen.stream().filter(each -> each.name().equals(named)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("not among the chosen ones: " + named));
        Path work = WORK.resolve("job-of-" + ProcessHandle.current().pid());
        Path classes = work.resolve("classes");
        Path mutated = classes.resolve(defect.details.getClassName().asInternalName() + ".class");
        Files.createDirectories(mutated.getParent());
        Files.write(mutated, mutater.getMutation(defect.details.getId()).getBytes());
        List<String> selected = tests.stream().map(name -> "--select-class=" + name).toList();
        List<String> command = Search.tests(classes, "slow", Search.ANY_TEST, "--exclude-tag=compiled", selected);
        String found = run(Search.SLOW, command, defect, work.resolve("output"));
        System.out.println((found == null ? "not found: " : "found by " + found + ": ") + defect);
        if (found != null) {
            Files.writeString(JUDGED, defect.name() + "\tnamed\t" + found + "\t\t" + defect + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        return found != null;
    }

    private void work(Search search, BlockingQueue<Defect> queue, Path work) {
        try {
            for (Defect defect = queue.poll(); defect != null; defect = queue.poll()) {
                long startNs = System.nanoTime();
                String verdict = judge(search, defect, work);
                long tookS = (System.nanoTime() - startNs) / 1_000_000_000L;
                synchronized (this) {
                    judged.put(defect.name(), verdict.replaceAll("\t.*", ""));
                    Files.writeString(JUDGED, defect.name() + "\t" + verdict + "\t" + tookS + " s\t" + defect + "\n",
                        StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                    System.out.println(verdict.replace('\t', ' ') + ", " + tookS + " s: " + defect);
                }
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("in " + work, e);
        }
    }

    /** A search that fails without a defect would find all of them. An interrupted run has made sure of that. */
    private static void requireSound(List<Defect> chosen) throws IOException, InterruptedException {
        Path classes = Files.createDirectories(WORK.resolve("none"));
        for (Room room : List.of(Room.CLIENT, Room.ENGINE)) {
            for (Search search : List.of(Search.MODULE, Search.SIMULATION)) {
                Path output = WORK.resolve("output-of-none");
                String failed = search(search, chosen.get(0).in(room), classes, output);
                if (failed != null) {
                    throw new IllegalStateException(
                        search + " of " + room.target + " fails without a defect, see " + output + ": " + failed);
                }
            }
        }
    }

    private boolean run() throws IOException, InterruptedException {
        List<Defect> chosen = choose();
        if (lists) {
            chosen.forEach(defect -> System.out.println(defect.name() + "\t" + defect));
            return true;
        }
        if (named != null) {
            return judgeByTests(chosen);
        }
        for (Defect defect : chosen) {
            if (again && LIVES.equals(judged.get(defect.name()))) {
                judged.remove(defect.name());
            }
        }
        if (Files.notExists(JUDGED)) {
            requireSound(chosen);
        }
        // the fast searches first for all, so that a run which is interrupted knows most
        for (Search search : Search.values()) {
            BlockingQueue<Defect> queue = new LinkedBlockingQueue<>(chosen);
            queue.removeIf(defect -> !judged.getOrDefault(defect.name(), "").equals(search.verdictBefore()));
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < jobs; i++) {
                Path work = WORK.resolve("job" + i);
                threads.add(Thread.ofPlatform().start(() -> work(search, queue, work)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        return report(chosen);
    }

    private boolean report(Collection<Defect> chosen) {
        Map<String, Long> counts = new LinkedHashMap<>(chosen.stream()
            .collect(Collectors.groupingBy(defect -> judged.getOrDefault(defect.name(), "not judged"),
                TreeMap::new, Collectors.counting())));
        long found = counts.entrySet().stream().filter(verdict -> !verdict.getKey().equals(LIVES)
            && !verdict.getKey().startsWith("not ")).mapToLong(Map.Entry::getValue).sum();
        System.out.println("seed " + seed + ": " + found + " of " + chosen.size() + " defects found: " + counts);
        chosen.stream().filter(defect -> LIVES.equals(judged.get(defect.name())))
            .forEach(defect -> System.out.println("lives: " + defect + "\n    " + defect.name()));
        return found * 100 >= (long) chosen.size() * WANTED_PERCENT;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        System.exit(new PlantDefects(args).run() ? 0 : 1);
    }
}
