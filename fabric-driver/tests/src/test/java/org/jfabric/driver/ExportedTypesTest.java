package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasModifiers;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.junit.jupiter.api.Test;

/** What an application sees of the API it can also name: no signature has a type of a package that is not exported. */
class ExportedTypesTest {
    private static final Pattern EXPORT = Pattern.compile("^ *exports ([\\w.]+);", Pattern.MULTILINE);
    private static final String MODULE = Path.of("src", "main", "java", "module-info.java").toString();

    @Test
    void shouldShowNoTypeThatAnApplicationCannotName() throws IOException {
        Set<String> exported = exported();
        assertTrue(exported.containsAll(List.of("org.jfabric", "org.jfabric.driver")), exported.toString());
        Set<String> hidden = new TreeSet<>();
        List<URL> modules = List.of(place(Fabric.class), place(FabricDriver.class));
        for (JavaClass type : new ClassFileImporter().importUrls(modules)) {
            if (exported.contains(type.getPackageName()) && isShown(type)) {
                type.getMembers().stream().filter(ExportedTypesTest::isSeen)
                    .flatMap(member -> member.getAllInvolvedRawTypes().stream())
                    .filter(used -> !isNameable(used.getBaseComponentType(), exported))
                    .forEach(used -> hidden.add(used.getName() + " in " + type.getName()));
            }
        }
        assertEquals(Set.of(), hidden, "types that applications see and cannot name");
    }

    private static boolean isNameable(JavaClass type, Set<String> exported) {
        return !type.getPackageName().startsWith("org.jfabric")
            || exported.contains(type.getPackageName()) && isShown(type);
    }

    /** Public or protected, as are all the types that it is nested in. */
    private static boolean isShown(JavaClass type) {
        return isSeen(type) && type.getEnclosingClass().map(ExportedTypesTest::isShown).orElse(true);
    }

    private static boolean isSeen(HasModifiers element) {
        return element.getModifiers().contains(JavaModifier.PUBLIC)
            || element.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static URL place(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Packages that the modules export to all others. */
    private static Set<String> exported() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("mvnw"))) {
            root = root.getParent();
        }
        Set<String> packages = new HashSet<>();
        try (Stream<Path> modules = Files.find(root, 7, (path, attributes) -> path.toString().endsWith(MODULE))) {
            for (Path module : modules.toList()) {
                EXPORT.matcher(Files.readString(module)).results().forEach(export -> packages.add(export.group(1)));
            }
        }
        return packages;
    }
}
