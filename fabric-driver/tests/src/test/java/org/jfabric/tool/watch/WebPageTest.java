package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page in Chromium, with drivers in processes of their own. */
@Tag("slow")
@Timeout(120)
class WebPageTest {
    private static final long PERIOD_MS = 200;
    private static final String[] QUICK = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};
    private final Path base = TestDirectory.create();

    private static DriverProcess driver(Path directory, String... options) {
        String[] all = new String[QUICK.length + options.length];
        System.arraycopy(QUICK, 0, all, 0, QUICK.length);
        System.arraycopy(options, 0, all, QUICK.length, options.length);
        return DriverProcess.launch(directory, all);
    }

    @Test
    void shouldShowDriversWhileTheyWorkFailAndDie() throws Exception {
        Path alpha = base.resolve("alpha");
        try (Browser browser = Browser.start();
            DriverProcess working = driver(alpha, "jfabric.queue.txSize=64");
            DriverProcess dying = driver(base.resolve("beta"))) {
            working.awaitReady();
            dying.awaitReady();
            try (WebServer server = WebServer.open(0, new Sampler(
                    () -> List.of(alpha, base.resolve("beta"), base.resolve("none"))), PERIOD_MS);
                Talk talk = new Talk(alpha)) {
                browser.showAs(1280, 900, "light");
                browser.open(server.url());
                shows(browser, talk, dying, alpha);
                narrowAndDark(browser);
                assertEquals(List.of(), browser.messages());
                assertEquals(Set.of("http://127.0.0.1:" + server.port()), browser.hostsAsked());
                browser.run("window.stop()");
            }
            assertTrue(browser.awaitText("status", "^no answer").contains("has ended"));
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static void groups(Browser browser, Path alpha) throws Exception {
        browser.awaitText("group-table", "^There is no group");
        String ticks = "jfabric://alpha/ticks";
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(alpha));
            Publication publication = Publication.on(fabric, ticks).open();
            Subscription subscription = Subscription.on(fabric, ticks).open()) {
            assertEquals(0, publication.offer(new UnsafeBuffer(new byte[8]), 0, 8));
            Browser.await(() -> "the message at " + subscription, () -> subscription.poll(
                (buffer, offset, length, header) -> { }, 16) == -FabricErrno.EAGAIN && subscription.position() == 1);
            browser.awaitText("group-table", ticks + "\\s+jfabric://alpha/\\S+\\s+1\\s+0\\s+1\\s+0\\s+0"
                + "\\s+jfabric://alpha/\\S+\\s+1\\s+0\\s+0");
        }
    }

    private static void shows(Browser browser, Talk talk, DriverProcess dying, Path alpha) throws Exception {
        assertEquals("", browser.run("return location.hash"), "the key does not stay in the address");
        browser.awaitText("status", "^live$");
        browser.awaitText("driver-table", "alpha\\s+(running|parked).*beta\\s+(running|parked).*none\\s+unreadable");
        browser.awaitText("driver-table", "No driver runs in .*/none");
        talk.exchange();
        browser.awaitText("graphs", "quotes.*orders");
        browser.awaitText("endpoint-table", talk.addressOfQuotes() + "\\s+quotes.*" + talk.addressOfOrders());
        groups(browser, alpha);
        talk.start();
        String first = browser.awaitText("graphs", "● flowing · [1-9][0-9.KM]* msg/s");
        Browser.await(() -> "another rate than " + first, () -> !browser.text("graphs").equals(first));
        talk.pause();
        browser.awaitText("graphs", "○ idle · 0 msg/s");
        talk.sendUnread();
        browser.awaitText("wait-table", talk.addressOfQuotes() + "\\s+" + talk.addressOfOrders()
            + "\\s+messages without a receive: 1");
        browser.awaitText("graphs", "■ stuck.*1 unread");

        browser.awaitText("error-list", "alpha\\s+No errors");
        new ControlClient(alpha, Thread::onSpinWait).close();
        browser.awaitText("error-list", "alpha\\s+1 × ?, last .*: .*client");
        assertEquals("1", browser.text("error-count"));

        String options = browser.awaitText("option-tables", "jfabric.queue.txSize\\s+64\\s+system property\\s+256");
        assertTrue(!options.contains("jfabric.queue.rxSize"), options);
        browser.click("defaults");
        browser.awaitText("option-tables", "jfabric.queue.rxSize\\s+1024\\s+not set\\s+1024");

        assertEquals(4L, browser.run("return document.querySelectorAll('#plots canvas').length"));
        dying.kill();
        browser.awaitText("driver-table", "alpha\\s+(running|parked).*beta\\s+dead");
        browser.run("document.getElementById('filter').value = 'nowhere';"
            + "document.getElementById('filter').dispatchEvent(new Event('input'))");
        browser.awaitText("endpoint-table", "No endpoint contains that.");
        browser.run("document.getElementById('filter').value = '';");
    }

    private static void narrowAndDark(Browser browser) throws Exception {
        Object light = browser.run("return getComputedStyle(document.body).backgroundColor");
        for (int width : new int[] {1280, 1000, 400}) {
            for (String scheme : List.of("light", "dark")) {
                browser.showAs(width, 900, scheme);
                Browser.await(() -> "a graph of this width", () -> (Boolean) browser.run(
                    "const svg = document.querySelector('svg.graph');"
                    + "return svg !== null && svg.viewBox.baseVal.width === svg.parentElement.clientWidth"));
                assertEquals((long) width, browser.run("return document.documentElement.scrollWidth"));
                assertEquals(List.of(), browser.run("""
                    return [...document.querySelectorAll('main *')].filter((each) => !each.closest('pre, thead')
                        && each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML)"""));
                assertEquals(List.of(), browser.run("""
                    return [...document.querySelectorAll('#driver-table tbody th, #endpoint-table tbody th')]
                        .filter((each) => each.clientHeight > 90)
                        .map((each) => each.outerHTML)"""), "columns of names that are squeezed at " + width);
                Object seen = browser.run("return getComputedStyle(document.body).backgroundColor");
                if (scheme.equals("light")) {
                    assertEquals(light, seen);
                } else {
                    assertNotEquals(light, seen);
                }
                String pictures = System.getProperty("jfabric.test.pictures");
                if (pictures != null) {
                    browser.picture(Files.createDirectories(Path.of(pictures)).resolve(
                        "page-" + width + "-" + scheme + ".png"));
                }
            }
        }
    }
}
