package org.jfabric.tool.watch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Chromium without a window, with a profile of its own. */
final class Browser implements AutoCloseable {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Pattern REQUEST = Pattern.compile(
        "\"method\":\"Network.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]*)\"");

    private static final long PAUSE_NS = 20_000_000;

    private final Path profile = TestDirectory.create();
    private final ChromeDriver driver;

    private Browser() {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(CHROMIUM.toString());
        options.addArguments("--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--user-data-dir=" + profile, "--window-size=1280,900");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        // with it Selenium does not search for a driver, and downloads none
        System.setProperty("webdriver.chrome.driver", DRIVER.toString());
        driver = new ChromeDriver(options);
    }

    /** Starts it; skips the test, with the reason, where it is not installed. */
    static Browser start() {
        Assumptions.assumeTrue(Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER),
            "needs the packages chromium and chromium-driver");
        return new Browser();
    }

    void open(String url) {
        driver.get(url);
    }

    /** As a device of that size, with that colour scheme. */
    void showAs(int width, int height, String scheme) {
        driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
            Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        driver.executeCdpCommand("Emulation.setEmulatedMedia",
            Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    Object run(String script) {
        return driver.executeScript(script);
    }

    /** The text that is seen in an element. */
    String text(String id) {
        return String.valueOf(run("return document.getElementById('" + id + "').innerText"));
    }

    /** Awaits that the text of an element matches. */
    String awaitText(String id, String pattern) {
        Pattern wanted = Pattern.compile(pattern, Pattern.DOTALL);
        await(() -> pattern + " in " + id + ": " + text(id) + "\nconsole: " + messages(),
            () -> wanted.matcher(text(id)).find());
        return text(id);
    }

    /** Awaits something that the page does, without keeping the processors from it. */
    static void await(Supplier<String> what, BooleanSupplier condition) {
        Deadline.usual().until("this", condition, () -> LockSupport.parkNanos(PAUSE_NS), what);
    }

    void click(String id) {
        run("document.getElementById('" + id + "').click()");
    }

    /** What the page has written to the console since the last call, and what the browser has refused it. */
    List<String> messages() {
        List<String> messages = new ArrayList<>();
        for (LogEntry entry : driver.manage().logs().get(LogType.BROWSER)) {
            messages.add(entry.getLevel() + " " + entry.getMessage());
        }
        return messages;
    }

    /** Beginnings of the addresses that were asked for something since the last call. */
    TreeSet<String> hostsAsked() {
        TreeSet<String> hosts = new TreeSet<>();
        for (LogEntry entry : driver.manage().logs().get(LogType.PERFORMANCE)) {
            Matcher request = REQUEST.matcher(entry.getMessage());
            while (request.find()) {
                // the browser's own pages are no requests
                if (!request.group(1).startsWith("chrome:") && !request.group(1).startsWith("data:")) {
                    hosts.add(request.group(1).replaceFirst("^([a-z]+:(//[^/]*)?).*", "$1"));
                }
            }
        }
        return hosts;
    }

    /** Writes a picture of the whole page. */
    void picture(Path file) throws IOException {
        Object data = driver.executeCdpCommand("Page.captureScreenshot",
            Map.of("format", "png", "captureBeyondViewport", true)).get("data");
        Files.write(file, Base64.getDecoder().decode((String) data));
    }

    @Override
    public void close() {
        driver.quit();
        TestDirectory.delete(profile);
    }
}
