package org.jfabric.driver.qualify;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;

/** Takes names and addresses out of what is shown to others: hosts, users, folders of users, and addresses. */
final class Privacy {
    private static final String IP = "\\d{1,3}(?:\\.\\d{1,3}){3}";
    private static final Pattern ADDRESS = Pattern.compile("(?i)(?<![\\w.])" + IP + "(?![\\w.])"
        + "|(?<![\\w:])(?:[0-9a-f]{0,4}:){2,15}(?:" + IP + "|[0-9a-f]{0,4})(?![\\w:])");
    private static final Pattern HOME = Pattern.compile("/(?:home|root|Users)\\b[^\\s,:;'\")]*");
    private static final int SHORTEST = 2;

    private final Set<String> names = new LinkedHashSet<>();

    /** Hides the names of this host and its user, and others that were given. */
    Privacy(String... others) {
        add(Place.line(Path.of("/proc/sys/kernel/hostname")));
        add(System.getenv("HOSTNAME"));
        add(System.getProperty("user.name"));
        add(System.getenv("USER"));
        add(System.getenv("SUDO_USER"));
        for (String each : others) {
            add(each);
        }
    }

    private void add(String name) {
        if (name != null && name.length() >= SHORTEST && !name.equals("localhost")) {
            names.add(name);
            if (name.indexOf('.') > 0 && !Character.isDigit(name.charAt(0))) {
                names.add(name.substring(0, name.indexOf('.')));
            }
        }
    }

    /** The text without them. */
    String hide(String text) {
        String hidden = text.replace(System.getProperty("user.home"), "<home>");
        hidden = HOME.matcher(hidden).replaceAll("<home>");
        hidden = ADDRESS.matcher(hidden).replaceAll("<address>");
        for (String name : names) {
            hidden = hidden.replaceAll("(?<![\\w-])" + Pattern.quote(name) + "(?![\\w-])", "<name>");
        }
        return hidden;
    }

    /** Fails if there is an address or a user's folder in the text: nothing is written then. */
    static String checked(String text) throws IOException {
        if (ADDRESS.matcher(text).find() || HOME.matcher(text).find()) {
            throw new IOException("the report has an address or a folder in it, and is not written:\n" + text);
        }
        return text;
    }
}
