package org.jfabric.test;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/**
 * Something that requirement rows need, as {@code docs/requirements} names it.
 *
 * @param name     as the rows say it.
 * @param exists   whether the document says that it is there; its rows are due then.
 * @param api      {@code Class}, {@code Class#method} or {@code Class#method/parameters}: what belongs to it if it
 *                 exists, what it would bring if it is missing; may be empty for a missing one that is only accepted.
 * @param accepted {@code caps NAME}, {@code mode NAME}, {@code type NAME} or {@code flag NAME}: what no link and no
 *                 call accepts while it is missing.
 */
public record Capability(String name, boolean exists, List<String> api, List<String> accepted) {

    /** Takes unmodifiable copies of the lists. */
    public Capability {
        api = List.copyOf(api);
        accepted = List.copyOf(accepted);
    }

    /** Where the code on the class path disagrees with the document; empty if it agrees. */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (api.isEmpty() && (exists || accepted.isEmpty())) {
            problems.add("capability " + name + " names no API");
        }
        for (String member : api) {
            String unusable = unusable(member);
            if (unusable != null) {
                problems.add("capability " + name + ": " + unusable);
            } else if (isPresent(member) && !exists) {
                problems.add("capability " + name + " is marked missing, but " + member
                    + " is there: mark it as existing, its rows are due now");
            } else if (!isPresent(member) && exists) {
                problems.add("capability " + name + " is marked existing, but there is no public " + member);
            }
        }
        return problems;
    }

    /** A method of a class that does not exist would stay absent for ever, so a slip of the pen would go unseen. */
    private String unusable(String member) {
        int hash = member.indexOf('#');
        return hash > 0 && type(member.substring(0, hash)) == null
            ? "the class of " + member + " does not exist, name the class alone" : null;
    }

    static boolean isPresent(String member) {
        int hash = member.indexOf('#');
        Class<?> type = type(hash < 0 ? member : member.substring(0, hash));
        if (type == null || hash < 0) {
            return type != null && Modifier.isPublic(type.getModifiers());
        }
        int slash = member.indexOf('/', hash);
        String method = member.substring(hash + 1, slash < 0 ? member.length() : slash);
        int parameters = slash < 0 ? -1 : Integer.parseInt(member.substring(slash + 1));
        for (Method candidate : type.getMethods()) {
            // what an interface answers for all its objects is a refusal, and not there
            if (!candidate.isDefault() && candidate.getName().equals(method)
                && (parameters < 0 || parameters == candidate.getParameterCount())) {
                return true;
            }
        }
        return false;
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, Capability.class.getClassLoader());
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }
}
