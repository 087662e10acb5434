package org.jfabric.simulation.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ArrivalOrderTest {
    private final ArrivalOrder order = new ArrivalOrder();

    private void add(String events) {
        events.chars().mapToObj(Character::toString).forEach(order::add);
    }

    @Test
    void shouldFindAnOrderThatSatisfiesAllRelations() {
        add("abcde");
        order.before("e", "a");
        order.before("a", "b");
        order.before("e", "d");
        order.before("d", "b");
        assertEquals(List.of("c", "e", "a", "d", "b"), order.find(() -> ""));
    }

    @Test
    void shouldNameTheCycleButNotWhatFollowsIt() {
        add("abcde");
        order.before("a", "b");
        order.before("b", "c");
        order.before("c", "b");
        order.before("c", "d");
        AssertionError failure = assertThrows(AssertionError.class, () -> order.find(() -> "; state"));
        assertTrue(failure.getMessage().matches("[^\\n]*\\n  (b\\n  c|c\\n  b); state"), failure.getMessage());
    }

    @Test
    void shouldLetAnEventFollowAnyOfSeveral() {
        add("abc");
        order.perhapsBefore("a", "c");
        order.perhapsBefore("b", "c");
        order.before("c", "b");
        assertEquals(List.of("a", "c", "b"), order.find(() -> ""));
        order.before("b", "a");
        assertThrows(AssertionError.class, () -> order.find(() -> ""));
    }
}
