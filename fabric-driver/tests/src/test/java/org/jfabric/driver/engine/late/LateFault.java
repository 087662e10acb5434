package org.jfabric.driver.engine.late;

/**
 * A fault of shared memory that is raised later than at the access, as the virtual machine does in compiled code. One
 * for the whole test: {@link LateFaultLoader} has the code under test call it.
 */
public final class LateFault {
    private static boolean armed;
    private static boolean pending;
    private static int left;
    private static int accessesBefore;
    /** Fault points before the one that raises it; negative for none. */
    private static int pointsBefore;
    private static boolean raised;
    private static boolean last;
    private static String place;

    private LateFault() {
    }

    /** The next copy of memory fails, which is noticed behind so many calls, or at the next fault point. */
    public static void arm(int calls) {
        armed = true;
        accessesBefore = 0;
        pointsBefore = -1;
        pending = false;
        raised = false;
        last = false;
        left = calls;
        place = "nowhere";
    }

    /** The same after so many copies that succeed. */
    public static void arm(int accesses, int calls) {
        arm(calls);
        accessesBefore = accesses;
    }

    /** As if an access had failed just now. */
    public static void fail(int calls) {
        arm(calls);
        pending = true;
    }

    /** As if an access had failed just before the fault point that comes behind so many others. */
    public static void failAtPoint(int points) {
        arm(0);
        armed = false;
        pointsBefore = points;
    }

    /** Nothing fails any more. */
    public static void disarm() {
        armed = false;
        pending = false;
        pointsBefore = -1;
    }

    /** Whether it was raised behind a call: with more calls there may be a further place. */
    public static boolean hasFurtherPlaces() {
        return raised && !last;
    }

    /** Where it was raised. */
    public static String place() {
        return place;
    }

    /** Memory was copied; called by the code under test. */
    public static void onAccess() {
        pending |= armed && !raised && --accessesBefore < 0;
    }

    /** A call has returned; called by the code under test. */
    public static void onReturn() {
        if (pending && --left < 0) {
            raise();
        }
    }

    /** A fault point; called by the code under test. */
    public static void onFaultPoint() {
        if (pending) {
            last = true;
            raise();
        } else if (pointsBefore >= 0 && pointsBefore-- == 0) {
            raise();
        }
    }

    private static void raise() {
        pending = false;
        raised = true;
        place = new Throwable().getStackTrace()[2].toString();
        throw new InternalError("a fault of the test");
    }
}
