package org.jfabric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jfabric.codec.control.ObjectKind;

/**
 * What a domain or a fabric has opened and not closed, by kind. Each kind is described once, by {@link #kind}: how its
 * objects are closed, what the parent's own close finds, and how they end with the fabric follows from that.
 *
 * <p>Changed by control calls, under the fabric's lock; any thread reads.
 */
final class Children {
    private final Fabric fabric;
    private final Runnable requireOpen;
    private final List<Kind<?>> kinds = new ArrayList<>();

    /** Of a parent that is being made; the check refuses to open something once the parent is closed. */
    Children(Fabric fabric, Runnable requireOpen) {
        this.fabric = fabric;
        this.requireOpen = requireOpen;
    }

    /**
     * Adds a kind. With the fabric, kinds end in the order in which they were added.
     *
     * @param begin before an object is closed: refuses if it is used.
     * @param end   once it is closed, also with the fabric: it forgets what it was bound to.
     */
    <T extends Fid> Kind<T> kind(Consumer<T> begin, Consumer<T> end) {
        Kind<T> kind = new Kind<>(begin, end);
        kinds.add(kind);
        return kind;
    }

    /** Closes an object, once the driver has; false if it is not open here. */
    boolean close(Fid child) {
        synchronized (fabric.lock()) {
            return kinds.stream().anyMatch(kind -> kind.close(child));
        }
    }

    /** The fabric closes, and the driver closes its side by itself. */
    void endAll() {
        kinds.forEach(Kind::endAll);
    }

    /** Those that are open, of all kinds. */
    List<Fid> all() {
        List<Fid> all = new ArrayList<>();
        kinds.forEach(kind -> all.addAll(kind.all()));
        return all;
    }

    /** The open objects of one kind, in the order in which they were opened. */
    final class Kind<T extends Fid> {
        private final Map<Fid, T> open = new LinkedHashMap<>();
        private final Consumer<T> begin;
        private final Consumer<T> end;
        private ObjectKind inDriver;
        private ToLongFunction<T> id = child -> 0;
        private Consumer<T> release = child -> { };

        private Kind(Consumer<T> begin, Consumer<T> end) {
            this.begin = begin;
            this.end = end;
        }

        /**
         * The driver has such objects, too, and closes its own first.
         *
         * @param number   the driver's, 0 if it does not know the object.
         * @param released gives back what stood for the object between client and driver; not with the fabric, where
         *                 the end of the connection does.
         */
        Kind<T> inDriver(ObjectKind kind, ToLongFunction<T> number, Consumer<T> released) {
            inDriver = kind;
            id = number;
            release = released;
            return this;
        }

        /** Opens an object, unless the parent is closed. */
        T open(Supplier<T> opening) {
            synchronized (fabric.lock()) {
                requireOpen.run();
                return add(opening.get());
            }
        }

        /** Takes what was opened; under the fabric's lock. */
        synchronized T add(T child) {
            open.put(child, child);
            return child;
        }

        /** Null if it is not among them. */
        synchronized T remove(Fid child) {
            return open.remove(child);
        }

        synchronized List<T> all() {
            return List.copyOf(open.values());
        }

        /** The one that the driver knows by that number, or null. */
        T find(long number) {
            return all().stream().filter(child -> id.applyAsLong(child) == number).findFirst().orElse(null);
        }

        private synchronized T own(Fid child) {
            return open.get(child);
        }

        private boolean close(Fid child) {
            T own = own(child);
            if (own == null) {
                return false;
            }
            begin.accept(own);
            long number = id.applyAsLong(own);
            if (number == 0) {
                onClosed(own);
            } else {
                fabric.commands().closeObject(inDriver, number, () -> onClosed(own));
            }
            return true;
        }

        private void onClosed(T child) {
            remove(child);
            end.accept(child);
            release.accept(child);
        }

        private void endAll() {
            for (T child : all()) {
                remove(child);
                end.accept(child);
            }
        }
    }
}
