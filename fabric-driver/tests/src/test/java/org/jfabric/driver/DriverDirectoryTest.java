package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.resource.Environment;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DriverDirectoryTest {
    @TempDir
    private Path temporary;

    private Path base;
    private Path path;
    private DriverConfig config;

    @BeforeEach
    void configure() {
        base = temporary.resolve("base");
        path = base.resolve("driver");
        config = DriverConfig.builder().directory(path).build();
    }

    @Test
    void shouldMakeAPrivateDirectoryAndRemoveItAtClose() throws IOException {
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(base)));
            assertEquals("rw-------", PosixFilePermissions.toString(
                Files.getPosixFilePermissions(path.resolve(DriverDirectory.LOCK_NAME))));
            assertEquals(path, directory.path());
        }
        assertFalse(Files.exists(path));
    }

    @Test
    void shouldRefuseASecondDriverAndNameTheDirectory() {
        DriverDirectory directory = DriverDirectory.open(config);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(FabricErrno.EBUSY, refused.errno());
        assertTrue(refused.getMessage().contains(path.toString()), refused.getMessage());
        directory.close();
        DriverDirectory.open(config).close();
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanReach() throws IOException {
        for (Path wide : List.of(base, path)) {
            Files.createDirectories(path);
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(wide, PosixFilePermissions.fromString("rwxr-xr-x"));
            FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
            assertEquals(FabricErrno.EACCES, refused.errno());
            assertTrue(refused.getMessage().contains(wide + " has mode 0755, needed is 0700"), refused.getMessage());
            assertFalse(refused.getMessage().contains("chmod"), refused.getMessage());
        }
    }

    /** The group of files that this process makes: it is in that one, root or not. */
    private int ownGroup() throws IOException {
        return (int) Files.getAttribute(temporary, "unix:gid");
    }

    private DriverConfig shared(Object group) {
        return DriverConfig.builder().directory(path).set("jfabric.dir.group", group.toString()).build();
    }

    private static String mode(Path of) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(of)) + ' '
            + Files.getAttribute(of, "unix:gid");
    }

    private void make(String baseMode, String pathMode) throws IOException {
        Files.createDirectories(path);
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString(baseMode));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(pathMode));
    }

    @Test
    void shouldLetAGroupReachItWithoutTheRightToWrite() throws IOException {
        // root can give it to any group
        int group = Libc.geteuid() == 0 ? 20100 : ownGroup();
        try (DriverDirectory directory = DriverDirectory.open(shared(group))) {
            assertEquals("rwxr-x--- " + group, mode(base));
            assertEquals("rwxr-x--- " + group, mode(path));
            assertEquals(group, directory.gid());
            for (String name : List.of(DriverDirectory.LOCK_NAME, DriverDirectory.MARKER_NAME)) {
                assertTrue(mode(path.resolve(name)).startsWith("rw------- "), name);
            }
        }
        assertFalse(Files.exists(path));
        assertEquals(-1, DriverDirectory.open(DriverConfig.builder().directory(temporary.resolve("b/private")).build())
            .gid());
    }

    @Test
    void shouldGiveItsDirectoryToTheGroupAndRefuseABaseThatTheGroupCannotReach() throws IOException {
        make("rwx------", "rwx------");
        FabricException closed = assertThrows(FabricException.class, () -> DriverDirectory.open(shared(ownGroup())));
        assertEquals(FabricErrno.EACCES, closed.errno());
        assertTrue(closed.getMessage().contains("chgrp " + ownGroup() + ' ' + base + " && chmod 0750 " + base),
            closed.getMessage());
        make("rwxrwx---", "rwx------");
        FabricException wide = assertThrows(FabricException.class, () -> DriverDirectory.open(shared(ownGroup())));
        assertTrue(wide.getMessage().contains(base + " has mode 0770, needed is 0750: others could replace"),
            wide.getMessage());
        for (String pathMode : List.of("rwxrwx---", "rwxr-xr-x")) {
            make("rwxr-x---", pathMode);
            FabricException open = assertThrows(FabricException.class, () -> DriverDirectory.open(shared(ownGroup())));
            assertTrue(open.getMessage().contains(path + " has mode 07"), open.getMessage());
            assertTrue(open.getMessage().contains("needed is 0750"), open.getMessage());
        }
        for (String pathMode : List.of("rwx------", "rwxr-x---")) {
            make("rwxr-x--x", pathMode);
            DriverDirectory directory = DriverDirectory.open(shared(ownGroup()));
            assertEquals("rwxr-x--- " + ownGroup(), mode(path));
            assertEquals("rwxr-x--x " + ownGroup(), mode(base), "what the user has chosen");
            directory.close();
        }
    }

    @Test
    void shouldNotGiveTheDirectoryOfARunningDriverToAGroup() throws IOException {
        make("rwx--x--x", "rwx------");
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        try (DriverDirectory first = DriverDirectory.open(config)) {
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx--x--x"));
            FabricException busy = assertThrows(FabricException.class, () -> DriverDirectory.open(shared(ownGroup())));
            assertEquals(FabricErrno.EBUSY, busy.errno());
            assertEquals("rwx------ " + ownGroup(), mode(first.path()));
        }
    }

    @Test
    void shouldCleanTheDirectoryOfAGroupAndRefuseItForAPrivateDriver() throws IOException {
        make("rwx------", "rwxr-x---");
        Files.writeString(path.resolve(DriverDirectory.MARKER_NAME),
            "JFabric: a driver deletes its own files in this directory.\n");
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertTrue(refused.getMessage().contains(path + " has mode 0750, needed is 0700"), refused.getMessage());
        assertTrue(refused.getMessage().contains("jfabric.dir.group"), refused.getMessage());
        Files.createFile(path.resolve("1.mr"));
        assertEquals(DriverDirectory.Cleaned.REMOVED, DriverDirectory.clean(path));
        assertFalse(Files.exists(path));
    }

    @Test
    void shouldRefuseAGroupThatIsUnknown() {
        for (String group : List.of("no-such-group-here", "4294967295", "99999999999999999999999")) {
            FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(shared(group)));
            assertEquals(FabricErrno.EINVAL, refused.errno());
            assertTrue(refused.getMessage().contains(group), refused.getMessage());
            assertFalse(Files.exists(base));
        }
    }

    @Test
    void shouldRefuseASymbolicLinkInItsPlace() throws IOException {
        for (Path link : List.of(base, path)) {
            Path target = Files.createDirectory(
                temporary.resolve("target-" + link.getFileName()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.createDirectories(link.getParent());
            Files.createSymbolicLink(link, target);
            FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
            assertEquals(FabricErrno.EACCES, refused.errno());
            assertTrue(refused.getMessage().contains("is a symbolic link"), refused.getMessage());
            Files.delete(link);
            if (link.equals(base)) {
                Files.createDirectory(
                    base, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
        }
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can give a directory away");
        Files.createDirectories(path);
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        Files.setAttribute(path, "unix:uid", 65534);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(FabricErrno.EACCES, refused.errno());
        assertTrue(
            refused.getMessage().contains("belongs to user 65534, this driver runs as user 0"), refused.getMessage());
    }

    @Test
    void shouldRefuseAFileInItsPlace() throws IOException {
        Files.createDirectory(
            base, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createFile(path);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertTrue(refused.getMessage().contains("cannot be opened as a directory"), refused.getMessage());
    }

    @Test
    void shouldCleanWhatAKilledDriverLeftAndKeepItsErrors() throws IOException {
        leaveDeadDriver("the last words", FileHeaderDescriptor.VERSION);
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertEquals(3, names().size(), () -> names().toString());
            String log = names().stream().filter(name -> name.startsWith("errors-")).findFirst().orElseThrow();
            String text = Files.readString(directory.path().resolve(log));
            assertTrue(text.contains("the last words"), text);
            assertTrue(text.startsWith("1 times"), text);
        }
        assertEquals(2, names().size(), "the log stays, and the marker with it");
        for (int i = 0; i < 12; i++) {
            leaveDeadDriver("word " + i, FileHeaderDescriptor.VERSION);
            DriverDirectory.open(config).close();
        }
        assertTrue(names().size() <= 9, () -> names().toString());
        String newest = names().get(names().size() - 1);
        assertTrue(Files.readString(path.resolve(newest)).contains("word 11"));
    }

    @Test
    void shouldCleanADeadDirectoryOfAnotherVersion() throws IOException {
        leaveDeadDriver("unreadable", 77);
        DriverDirectory.open(config).close();
        assertFalse(Files.exists(path), "another layout's log cannot be read, so there is nothing to keep");
    }

    @Test
    void shouldSurviveACutOrForeignCncFile() throws IOException {
        for (int length : new int[] {0, 1, 100, 4096, 5000}) {
            Files.createDirectories(path);
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            byte[] garbage = new byte[length];
            java.util.Arrays.fill(garbage, (byte) 0xff);
            Files.write(path.resolve(CncDescriptor.FILE_NAME), garbage);
            assertThrows(FabricException.class, () -> DriverDirectory.open(config), "no sign of JFabric");
            Files.writeString(path.resolve(DriverDirectory.MARKER_NAME), MARKER);
            DriverDirectory.open(config).close();
            assertFalse(Files.exists(path));
        }
    }

    private static final Exception SECOND = new UnsupportedOperationException("the second words");
    private static final String MARKER = "JFabric: a driver deletes its own files in this directory.\n";

    /** Everything below a directory: contents, modes, times. */
    private static Map<String, String> snapshot(Path directory) throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path each : paths.toList()) {
                all.put(each.toString(), Files.readAttributes(each, "unix:mode,ino,ctime,lastModifiedTime").toString()
                    + (Files.isRegularFile(each) ? Arrays.toString(Files.readAllBytes(each)) : ""));
            }
        }
        return all;
    }

    /** As ~/.ssh, and a project folder: also names that a driver makes are the user's there. */
    private void makeFilesOfAUser() throws IOException {
        Files.createDirectories(path);
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        for (String name : List.of("id_rsa", "id_rsa.pub", "known_hosts", ".profile", "1.mr", "cnc", "driver.sock",
            "driver.lock", "errors-2025.log")) {
            Files.writeString(path.resolve(name), "of the user: " + name);
        }
        Files.createDirectory(path.resolve("2.tq"));
        Files.writeString(path.resolve("2.tq").resolve("3.rq"), "deeper");
    }

    @Test
    void shouldLeaveADirectoryThatIsNotADriversByteForByte() throws IOException {
        makeFilesOfAUser();
        Map<String, String> before = snapshot(path);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(FabricErrno.EINVAL, refused.errno());
        assertTrue(refused.getMessage().contains(path + " is no driver's directory: it has 10 files"),
            refused.getMessage());
        assertFalse(refused.getMessage().contains("chmod"), refused.getMessage());
        assertEquals(before, snapshot(path));
        // one that others can enter is not one to be changed either
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        before = snapshot(path);
        String message = assertThrows(FabricException.class, () -> DriverDirectory.open(config)).getMessage();
        assertTrue(message.contains("is no driver's directory"), message);
        assertFalse(message.contains("chmod"), message);
        assertEquals(before, snapshot(path));
    }

    @Test
    void shouldRefuseAnEmptyText() {
        for (Executable use : List.<Executable>of(
            () -> DriverConfig.builder().directory(Path.of("")),
            () -> new FabricConfig().directory(Path.of("")))) {
            FabricException refused = assertThrows(FabricException.class, use);
            assertEquals(FabricErrno.EINVAL, refused.errno());
            assertTrue(refused.getMessage().contains("is an empty text"), refused.getMessage());
        }
    }

    /** The marker alone, or the magic number of a cnc alone, makes a directory a driver's. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDeleteOnlyNamesThatADriverMakesWhereItIsADrivers(boolean byMarker) throws IOException {
        makeFilesOfAUser();
        if (byMarker) {
            Files.writeString(path.resolve(DriverDirectory.MARKER_NAME), MARKER);
        } else {
            byte[] damaged = new byte[50];
            Arrays.fill(damaged, (byte) 0xff);
            ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN).putLong(FileHeaderDescriptor.MAGIC);
            Files.write(path.resolve("cnc"), damaged);
        }
        Files.writeString(path.resolve("17.ring"), "");
        Files.writeString(path.resolve("quotes.svc"), "jfabric://driver/dead");
        Files.writeString(path.resolve("quotes.svc.new"), "jfabric://dri");
        for (int i = 0; i < 9; i++) {
            Files.writeString(path.resolve("errors-2024010" + i + "-000000-000.log"), "of a driver");
        }
        Files.writeString(path.resolve("017.ring"), "");
        Files.writeString(path.resolve("x.tq"), "");
        DriverDirectory.open(config).close();
        for (int i = 0; i < 9; i++) {
            Files.deleteIfExists(path.resolve("errors-2024010" + i + "-000000-000.log"));
        }
        assertEquals(List.of(".profile", "017.ring", "2.tq", "driver.marker", "errors-2025.log", "id_rsa", "id_rsa.pub",
            "known_hosts", "x.tq"), names());
        assertEquals("of the user: id_rsa", Files.readString(path.resolve("id_rsa")));
        assertEquals("deeper", Files.readString(path.resolve("2.tq").resolve("3.rq")));
        // and it is a driver's for the next one, too
        DriverDirectory.open(config).close();
    }

    /** Whoever is killed right behind making the marker leaves an empty one, and no lock in a directory without it. */
    @Test
    void shouldTakeOverADirectoryWhoseMarkerWasNotWritten() throws IOException {
        DriverDirectory.open(config).close();
        Files.createDirectory(
            path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createFile(path.resolve(DriverDirectory.MARKER_NAME));
        Files.createFile(path.resolve(DriverDirectory.LOCK_NAME));
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertTrue(directory.isInPlace());
        }
    }

    /** A file of that name that says nothing does not make the files beside it a driver's. */
    @Test
    void shouldRefuseFilesOfAUserBesideAnEmptyMarker() throws IOException {
        makeFilesOfAUser();
        Files.createFile(path.resolve(DriverDirectory.MARKER_NAME));
        Map<String, String> before = snapshot(path);
        assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(before, snapshot(path));
    }

    /** A damaged length in the log of a dead driver: what stands before it is kept, whatever follows. */
    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1, 23, 1 << 20})
    void shouldKeepOfADamagedErrorLogWhatCanBeRead(int length) throws IOException {
        leaveDeadDriver("the first words", FileHeaderDescriptor.VERSION);
        Path cnc = path.resolve(CncDescriptor.FILE_NAME);
        byte[] bytes = Files.readAllBytes(cnc);
        // behind length, count and two times
        int second = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(SECOND.getClass().getName()) - 24;
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(second, length);
        Files.write(cnc, bytes);
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            String log = names().stream().filter(name -> name.startsWith("errors-")).findFirst().orElseThrow();
            String text = Files.readString(directory.path().resolve(log));
            assertTrue(text.contains("the first words"), text);
            assertFalse(text.contains(SECOND.getMessage()), text);
        }
    }

    /** What a dead driver left may be what fills the file system: it goes before anything is written. */
    @Tag("slow") // runs a program
    @Test
    void shouldStartOnAFullFileSystem() throws Exception {
        Files.createDirectory(base);
        Assumptions.assumeTrue(Libc.geteuid() == 0 && run("mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs",
            base.toString()) == 0, "only root can mount a file system, and not everywhere");
        try {
            config = DriverConfig.builder().directory(path).set("jfabric.dir.reserveFreeBytes", "0").build();
            leaveDeadDriver("the last words", FileHeaderDescriptor.VERSION);
            Files.write(path.resolve("18.mr"), new byte[256 << 10]);
            Path filler = base.resolve("filler");
            byte[] page = new byte[4096];
            assertThrows(IOException.class, () -> {
                for (int i = 0; i < 1024; i++) {
                    Files.write(filler, page, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
            });
            try (DriverDirectory directory = DriverDirectory.open(config)) {
                assertNull(directory.warning());
                assertTrue(names().stream().anyMatch(name -> name.startsWith("errors-")), () -> names().toString());
            }
        } finally {
            run("umount", "-l", base.toString());
        }
    }

    private static int run(String... command) {
        return TestProcess.run(command).status();
    }

    /** Room for a driver, and too little for the text of the old log: the driver starts and says so. */
    @Tag("slow") // runs a program
    @Test
    void shouldStartAndSaySoIfTheErrorLogCannotBeKept() throws Exception {
        Files.createDirectory(base);
        Assumptions.assumeTrue(Libc.geteuid() == 0 && run("mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs",
            base.toString()) == 0, "only root can mount a file system, and not everywhere");
        try {
            config = DriverConfig.builder().directory(path).set("jfabric.cnc.errorLogLengthBytes", "4MiB").build();
            leaveDeadDriver("x".repeat(3 << 20), FileHeaderDescriptor.VERSION);
            Files.writeString(path.resolve(DriverDirectory.MARKER_NAME), MARKER);
            // so that its room does not come back
            Files.createLink(base.resolve("held"), path.resolve(CncDescriptor.FILE_NAME));
            Path filler = base.resolve("filler");
            fill(filler);
            try (FileChannel channel = FileChannel.open(filler, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - (5 << 19));
            }
            config = DriverConfig.builder().directory(path).set("jfabric.dir.reserveFreeBytes", "0").build();
            try (DriverDirectory directory = DriverDirectory.open(config)) {
                String warning = directory.warning();
                assertTrue(warning != null && warning.contains("2 records, could not be kept in " + path),
                    () -> "warning " + warning);
                assertEquals(List.of(DriverDirectory.LOCK_NAME, DriverDirectory.MARKER_NAME), names());
            }
        } finally {
            run("umount", "-l", base.toString());
        }
    }

    /** Logs of a user and folders are not the driver's, whatever they are called. */
    @Test
    void shouldDeleteNoLogsButItsOwn() throws IOException {
        List<String> ofTheUser = new ArrayList<>();
        leaveDeadDriver("words", FileHeaderDescriptor.VERSION);
        for (int i = 0; i < 12; i++) {
            ofTheUser.add("errors-2025-" + i + ".log");
            Files.writeString(path.resolve("errors-2025-" + i + ".log"), "of the user");
        }
        for (String folder : List.of("errors-0.log", "errors-20250101-000000-000.log")) {
            ofTheUser.add(folder);
            Files.createDirectory(path.resolve(folder));
        }
        for (int i = 0; i < 9; i++) {
            Files.writeString(path.resolve("errors-20250102-000000-00" + i + ".log"), "of a driver");
        }
        DriverDirectory.open(config).close();
        List<String> left = names();
        assertTrue(left.containsAll(ofTheUser), left::toString);
        assertFalse(left.contains("errors-20250102-000000-000.log"), left::toString);
    }

    /** Writes until there is no room left. */
    private static void fill(Path filler) {
        byte[] page = new byte[4096];
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 8192; i++) {
                Files.write(filler, page, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        });
    }

    @Test
    void shouldNoticeThatItIsGoneOrAnotherIsInItsPlace() throws IOException {
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertTrue(directory.isInPlace());
            Path aside = base.resolve("aside");
            Files.move(path, aside);
            assertFalse(directory.isInPlace());
            Files.createDirectory(path);
            Files.writeString(path.resolve("of another"), "untouched");
            assertFalse(directory.isInPlace());
        }
        assertEquals("untouched", Files.readString(path.resolve("of another")));
    }

    @Test
    void shouldSayWhatIsNeededWhenThereIsTooLittleRoom() {
        DriverConfig greedy =
            DriverConfig.builder().directory(path).set("jfabric.dir.reserveFreeBytes", "1024GiB").build();
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(greedy));
        assertEquals(FabricErrno.ENOSPC, refused.errno());
        assertTrue(refused.getMessage().contains("this configuration needs"), refused.getMessage());
        assertTrue(refused.getMessage().contains("available in " + path), refused.getMessage());
        // nothing is held after a refusal
        DriverDirectory.open(config).close();
    }

    @Test
    void shouldPrintOneLineASecondForErrorsThatTheLogHasNoRoomFor() {
        long[] nowNs = new long[1];
        Environment environment = new Environment() {
            @Override
            public long nanoTime() {
                return nowNs[0];
            }
        };
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        DriverDirectory directory = DriverDirectory.open(config);
        try (CncFile cnc = new CncFile(directory, OwnerId.random(), config, new PrintStream(printed), environment)) {
            // each is another one, so that the log becomes full
            for (int i = 0; i < 10_000; i++) {
                IllegalStateException error = new IllegalStateException("error " + i);
                error.setStackTrace(new StackTraceElement[] {new StackTraceElement("Class", "method", "File", i)});
                cnc.onError(error);
            }
            assertEquals(1, printed.toString().lines().count(), printed::toString);
            nowNs[0] = 2_000_000_000L;
            cnc.onError(new IllegalStateException("the last one, of another place than those before"));
        }
        directory.close();
        List<String> lines = printed.toString().lines().toList();
        assertEquals(2, lines.size(), lines::toString);
        assertTrue(lines.get(1).matches(".*\\([1-9][0-9]* errors more since the last line\\).*the last one.*"),
            lines.get(1));
    }

    /** Files as a driver leaves them that could not close; nobody holds the lock. */
    private void leaveDeadDriver(String error, int version) throws IOException {
        Path saved = temporary.resolve("cnc.saved");
        DriverDirectory directory = DriverDirectory.open(config);
        try (CncFile cnc = new CncFile(directory, OwnerId.random(), config, System.err, Environment.SYSTEM)) {
            cnc.onError(new IllegalStateException(error));
            cnc.onError(SECOND);
            Files.copy(path.resolve(CncDescriptor.FILE_NAME), saved);
        }
        directory.close();
        Files.createDirectories(path);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        Files.move(saved, path.resolve(CncDescriptor.FILE_NAME));
        Files.write(path.resolve("17.tq"), new byte[4096]);
        Files.createFile(path.resolve(DriverDirectory.SOCKET_NAME));
        Files.createFile(path.resolve(DriverDirectory.LOCK_NAME));
        int fd = Libc.openDirectory(path);
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, false, 1)) {
            cnc.buffer(0, 128).putInt(FileHeaderDescriptor.VERSION_OFFSET, version);
        }
        Libc.close(fd);
    }

    private List<String> names() {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
