package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.kit.OtherUser;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver of one user that serves a group: processes of other users, none of which is the one of this test. */
@Tag("hostile")
@Timeout(120)
class GroupAccessTest {
    private static final long GROUP = 20100;
    private static final OtherUser OWNER = new OtherUser(20001, GROUP);
    private static final OtherUser MEMBER = new OtherUser(20002, 20300L, GROUP);
    private static final OtherUser OTHER_MEMBER = new OtherUser(20003, GROUP);
    private static final OtherUser OUTSIDER = new OtherUser(20004, 20300L);
    private static final String USER = Long.toString(OWNER.uid());

    private static Path classes;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private Path base;
    private Path directory;

    @BeforeAll
    static void copyClasses() {
        OtherUser.require();
        classes = OtherUser.copyClasses();
    }

    @AfterAll
    static void deleteClasses() {
        if (classes != null) {
            TestDirectory.delete(classes);
        }
    }

    @BeforeEach
    void makeBase() throws IOException {
        base = TestDirectory.create();
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx--x--x"));
        directory = OWNER.home(base.resolve("owner")).resolve("drivers").resolve("shared");
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private TestProcess driver(OtherUser user, Path at, long group) {
        TestProcess driver = opened(user.start(classes, List.of("-Xmx256m", "jfabric.dir.base=" + at.getParent(),
            "jfabric.dir.name=" + at.getFileName(), "jfabric.dir.group=" + group), FabricDriver.class));
        driver.awaitLine("jfabric driver ready");
        return driver;
    }

    private TestProcess member(OtherUser user, String... properties) {
        return opened(user.start(classes, List.of(properties), GroupMemberMain.class, directory.toString()));
    }

    private static String ask(TestProcess member, String line) {
        member.say(line);
        return member.hear("answer");
    }

    private static void assertContains(String text, Object... parts) {
        for (Object part : parts) {
            assertTrue(text.contains(part.toString()), () -> "\"" + part + "\" is missing: " + text);
        }
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path)) + ' '
            + Files.getAttribute(path, "unix:uid") + ' ' + Files.getAttribute(path, "unix:gid");
    }

    private Set<String> files() {
        Set<String> names = new TreeSet<>();
        try (var entries = Files.newDirectoryStream(directory)) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return names;
    }

    private void assertModes() throws IOException {
        assertEquals("rwxr-x--- 20001 20100", mode(directory.getParent()));
        assertEquals("rwxr-x--- 20001 20100", mode(directory));
        assertEquals("rw-rw---- 20001 20100", mode(directory.resolve("driver.sock")));
        int others = 0;
        for (String file : files()) {
            if (!file.equals("driver.sock")) {
                assertEquals("rw------- 20001", mode(directory.resolve(file)).substring(0, 15), file);
                others++;
            }
        }
        assertTrue(others >= 8, () -> "files " + files());
    }

    private static void exchange(TestProcess from, TestProcess to, String toName) {
        assertEquals("posted", ask(to, "receive"));
        assertEquals("sent", ask(from, "send " + toName));
        assertEquals("received", ask(to, "received"));
    }

    @Test
    void shouldServeUsersOfTheGroupAndKeepThemApart() throws IOException {
        TestProcess first = member(MEMBER, "jfabric.client.driverUser=" + USER);
        TestProcess second = member(OTHER_MEMBER);
        TestProcess driver = driver(OWNER, directory, GROUP);
        Set<String> ofDriver = files();
        Path folder = MEMBER.home(classes.resolve("member"));
        String firstName = ask(first, "connect " + USER);
        Set<String> ofFirst = files();
        String secondName = ask(second, "connect " + USER);
        Set<String> ofSecond = files();
        ofSecond.removeAll(ofFirst);
        assertContains(firstName, "jfabric://shared/");
        exchange(first, second, secondName);
        exchange(second, first, firstName);
        assertModes();
        String used = ask(first, "everything " + folder);
        assertContains(used, "queue 0, counter 3, set 0, slab 8, own memory 1234, file ");

        // only the tools of a driver's own user concern other clients
        String queues = ask(first, "tool queues --json --dir " + directory);
        assertContains(queues, "0 ", "\"address\":\"" + firstName);
        assertEquals(2, queues.split("\"txSize\"").length, () -> "endpoints of one user only: " + queues);
        assertContains(ask(first, "tool stat --dir " + directory), "0 ", "clients");
        assertEquals("read 0", ask(first, "peer"));
        assertContains(ask(first, "tool errors --dir " + directory), "0 ",
            "a driver of user 20002 connects, this driver is of user 20001");
        assertContains(ask(first, "tool info --dir " + directory), "0 ", "loopback");
        assertContains(ask(first, "tool drain --dir " + directory), "1 ", "user 20002", "user 20001", "FI_EACCES");
        assertContains(ask(first, "tool clean --dir " + directory), "user 20001", "user 20002");
        assertContains(ask(second, "tool stat --dir " + directory),
            "1 ", "user 20001", "user 20003", "jfabric.client.driverUser");

        String pried = ask(second, "pry " + first.pid() + ' ' + driver.pid());
        assertEquals(5, ofSecond.size(), ofSecond::toString);
        assertEquals(ofSecond.toString(), new TreeSet<>(List.of(
            pried.substring(pried.indexOf('[') + 1, pried.length() - 1).split(", "))).toString(), pried);

        first.kill();
        Set<String> left = new TreeSet<>(files());
        Deadline.awaitParked(() -> "the end of the killed client, there are " + left, () -> {
            left.clear();
            left.addAll(files());
            return left.stream().filter(each -> each.endsWith(".ctl")).count() == 1;
        });
        assertEquals("arrived", ask(second, "self"));

        driver.kill();
        assertEquals("1", ask(second, "gone"));
        driver(OWNER, directory, GROUP);
        assertContains(ask(second, "connect " + USER), "jfabric://shared/");
        assertEquals("arrived", ask(second, "self"));
        assertModes();
        second.process().getOutputStream().close();
        second.ended();
        // and the error log of the killed one, which names what was refused, with its record
        Deadline.awaitParked(() -> "the files of the driver alone, there are " + files(), () -> files().stream()
            .filter(each -> !each.startsWith("errors-") && !each.equals("record.previous")).toList()
            .equals(ofDriver.stream().toList()));
    }

    @Test
    void shouldLetUsersOfTheGroupReadATableAndNotWriteIt() {
        driver(OWNER, directory, GROUP);
        TestProcess owner = member(OWNER);
        TestProcess reader = member(MEMBER);
        ask(owner, "connect");
        ask(reader, "connect " + USER);
        assertContains(ask(reader, "read"), "refused 2 ", "prices");
        assertContains(ask(reader, "write 1"), "refused 13 ", "user 20002", "user 20001");
        assertEquals("written 0", ask(owner, "write 4711"));
        // it has not opened the table, and is another user than the one who has
        assertEquals("passed 0, opened []", ask(reader, "reopen"));
        assertEquals("read 8 4711 [r--s]", ask(reader, "read"));
        assertEquals("passed 1, opened []", ask(reader, "reopen"));
    }

    @Test
    void shouldLetUsersOfTheGroupReadAStreamInPlace() {
        driver(OWNER, directory, GROUP);
        TestProcess owner = member(OWNER);
        TestProcess reader = member(MEMBER);
        ask(owner, "connect");
        ask(reader, "connect " + USER);
        assertContains(ask(reader, "subscribe"), "refused 111 ", "has no writer");
        assertEquals("published 0", ask(owner, "publish 1"));
        assertEquals("subscribed [r--s]", ask(reader, "subscribe"));
        assertEquals("published 0", ask(owner, "publish 4711"));
        assertEquals("message 4711", ask(reader, "poll"));
    }

    @Test
    void shouldRefuseOthersWithTheUsersSeenAndNeeded() {
        TestProcess member = member(MEMBER);
        TestProcess outsider = member(OUTSIDER);
        driver(OWNER, directory, GROUP);

        // a path is not enough: everybody can make a folder, and a driver sees all memory that is registered
        assertContains(ask(member, "connect"), "refused 13 ", "runs as user 20001", "this process is user 20002",
            "jfabric.client.driverUser");
        assertContains(ask(member, "connect 20003"), "refused 13 ", "user 20001", "user 20002", "user 20003");
        assertContains(ask(member, "connect no-such-user-here"), "refused 22 ", "no-such-user-here");
        assertContains(ask(outsider, "connect " + USER), "refused 13 ", "user 20001 and group 20100", "mode 0750",
            "this process is user 20004", "jfabric.dir.group");
        assertContains(ask(outsider, "tool stat --dir " + directory), "1 ", "EACCES", "user 20004");

        // the mode of the socket does not stop root, but the driver does
        FabricException refused = assertThrows(FabricException.class,
            () -> Fabric.connect(new FabricConfig().directory(directory).driverUser(USER)));
        assertEquals(FabricErrno.EACCES, refused.errno());
        assertContains(refused.getMessage(), "user 0", "user 20001", "group 20100");
    }

    /** It says why, as for a driver that has ended, and does not keep the others from being shown. */
    @Test
    void shouldShowInTopThatTheDriverOfAnotherUserDoesNotAnswer() {
        TestProcess driver = driver(OWNER, directory, GROUP);
        TestProcess member = member(MEMBER, "jfabric.client.driverUser=" + USER);
        TestProcess outsider = member(OUTSIDER, "jfabric.client.driverUser=" + USER);
        assertContains(ask(outsider, "tool record --dir " + directory), "1 ", "EACCES", "user 20004");
        String top = "tool top --once --interval 0.1 --dir " + directory;
        assertContains(ask(member, top), "0 ", "1 driver, 0 clients", "shared");
        assertContains(ask(member, "tool record --dir " + directory), "0 ", "running", "driver-ready");
        assertContains(ask(member, "tool why --past --seconds 0 --dir " + directory), "0 ", "slow cycle");
        TestProcess.signal(driver.process(), "STOP");
        try {
            assertContains(ask(member, top), "FI_ETIMEDOUT");
        } finally {
            TestProcess.signal(driver.process(), "CONT");
        }
    }

    @Test
    void shouldNotTakeTheDriverOfAnotherUserForTheOneThatIsTrusted() throws IOException {
        directory = OUTSIDER.home(base.resolve("outsider")).resolve("drivers").resolve("shared");
        // both are in that group
        TestProcess member = member(MEMBER);
        driver(OUTSIDER, directory, 20300);

        assertContains(ask(member, "connect " + USER), "refused 13 ", "runs as user 20004", "user 20001");
        assertContains(ask(member, "connect 20004"), "jfabric://shared/");
    }

    @Test
    void shouldRefuseAGroupThatTheDriversUserIsNotIn() {
        TestProcess driver = opened(OWNER.start(classes, List.of("jfabric.dir.base=" + directory.getParent(),
            "jfabric.dir.name=shared", "jfabric.dir.group=20300"), FabricDriver.class));
        driver.ended();
        assertTrue(driver.status() != 0, driver::toString);
        assertContains(driver.output(), "cannot be given to group 20300", "user 20001");
        assertTrue(!Files.exists(directory.getParent()), "what it had made is left");
    }
}
