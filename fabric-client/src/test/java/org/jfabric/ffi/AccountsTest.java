package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccountsTest {
    /** Names and numbers of a file such as /etc/group; the columns are the same in both. */
    private static List<String[]> entries(String file) throws IOException {
        return Files.readAllLines(Path.of(file)).stream().map(line -> line.split(":", -1))
            .filter(fields -> fields.length > 3 && !fields[0].isEmpty() && fields[2].matches("[0-9]+")).toList();
    }

    @Test
    void shouldFindUsersAndGroupsByName() throws IOException {
        assertEquals(0, Accounts.userId("root"));
        for (String[] fields : entries("/etc/passwd")) {
            assertEquals(Long.parseLong(fields[2]), Accounts.userId(fields[0]), fields[0]);
        }
        for (String[] fields : entries("/etc/group")) {
            assertEquals(Long.parseLong(fields[2]), Accounts.groupId(fields[0]), fields[0]);
        }
    }

    @Test
    void shouldTakeNumbersWithoutAName() {
        assertEquals(4_000_000_007L, Accounts.userId("4000000007"));
        assertEquals(0xFFFF_FFFEL, Accounts.groupId("4294967294"));
    }

    @Test
    void shouldRefuseWhatIsUnknown() {
        for (String unknown : List.of("no-such-name-here", "", " ", "-1", "4294967295", "1".repeat(40))) {
            NativeCallException refused =
                assertThrows(NativeCallException.class, () -> Accounts.groupId(unknown), unknown);
            assertTrue(refused.getMessage().contains(unknown), refused.getMessage());
        }
    }
}
