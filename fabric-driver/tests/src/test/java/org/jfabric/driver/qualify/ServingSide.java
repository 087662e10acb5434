package org.jfabric.driver.qualify;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.jfabric.test.TestProcess;

/** The host that starts its side of each step when the other one asks for it, one at a time. */
final class ServingSide {
    private static final int SILENCE_S = 3600;
    private static final int GREETING_S = 5;
    private static final int END_S = 15;

    private final Place place;
    private final InetAddress peer;
    private final Privacy privacy;
    private final Programs programs;
    private TestProcess process;

    ServingSide(Place place, InetAddress peer, Privacy privacy, Programs programs) {
        this.place = place;
        this.peer = peer;
        this.privacy = privacy;
        this.programs = programs;
    }

    /** Serves until a run of the other host has ended in order; a connection that is lost may come again. */
    void serve(int port) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(place.address(), port), 1);
            System.out.println("qualify: waits for the other host at port " + port);
            boolean isOver = false;
            while (!isOver) {
                Socket socket = server.accept();
                try (ControlLine line = new ControlLine(socket)) {
                    isOver = socket.getInetAddress().equals(peer) && greet(line) && converse(line);
                } catch (IOException lost) {
                    System.out.println("qualify: " + privacy.hide(String.valueOf(lost.getMessage())));
                } finally {
                    end();
                }
            }
        }
    }

    private static boolean greet(ControlLine line) throws IOException {
        line.say(ControlLine.GREETING);
        return ControlLine.GREETING.equals(line.hear(GREETING_S));
    }

    private boolean converse(ControlLine line) throws IOException {
        for (String asked = line.hear(SILENCE_S); asked != null; asked = line.hear(SILENCE_S)) {
            String[] words = asked.split(" ", 2);
            switch (words[0]) {
                case "facts" -> {
                    for (String fact : Facts.of(place)) {
                        line.say("fact " + privacy.hide(fact));
                    }
                    line.say("done");
                }
                case "start" -> line.say(start(words));
                case "end" -> line.say(privacy.hide(ended()));
                case "kill" -> {
                    end();
                    line.say("killed");
                }
                case "bye" -> {
                    return true;
                }
                default -> throw new IOException("the other host's line is not one of this protocol");
            }
        }
        return false;
    }

    private String start(String[] words) {
        end();
        Request request;
        try {
            request = Request.parse(words.length < 2 ? "" : words[1]);
        } catch (IllegalArgumentException wrong) {
            return "failed it was asked for what there is not";
        }
        String missing = programs.missing(request.part());
        if (missing != null) {
            return "missing " + missing;
        }
        System.out.println("qualify: " + request.part() + ' ' + request.exchange());
        try {
            process = programs.serve(request);
            return "ready " + (request.part() == Request.Part.PEER || request.part() == Request.Part.STREAM
                ? process.hear("ready") : "");
        } catch (IOException | AssertionError failure) {
            return "failed " + privacy.hide(said());
        }
    }

    /** Its end, which the other side's end is to bring about, and its result. */
    private String ended() {
        if (process == null) {
            return "failed nothing runs";
        }
        try {
            process.ended(END_S);
            return (process.status() == 0 ? "ok " : "failed ") + said();
        } catch (AssertionError late) {
            return "failed it did not end: " + said();
        } finally {
            end();
        }
    }

    private String said() {
        return process == null ? "it did not start" : QualifyRun.tail(process);
    }

    private void end() {
        if (process != null) {
            process.close();
            process = null;
        }
    }
}
