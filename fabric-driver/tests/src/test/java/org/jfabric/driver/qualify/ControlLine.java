package org.jfabric.driver.qualify;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.tool.FabricTool;

/** The connection by which one host tells the other what to start: lines of printable characters. */
final class ControlLine implements AutoCloseable {
    /** What both sides say first; they have to say the same. */
    static final String GREETING = "jfabric-qualify 1 " + version() + " layout " + FileHeaderDescriptor.VERSION;

    private static final int LONGEST = 4096;
    private static final int MS_PER_S = 1000;

    private final Socket socket;
    private final InputStream in;

    ControlLine(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    static String version() {
        String version = FabricTool.class.getPackage().getImplementationVersion();
        return version == null ? "built-here" : version;
    }

    void say(String line) throws IOException {
        String shown = line.replaceAll("[^ -~]", "?");
        shown = shown.substring(0, Math.min(shown.length(), LONGEST - 1));
        socket.getOutputStream().write((shown + '\n').getBytes(StandardCharsets.US_ASCII));
    }

    /** The next line; null at the end of the connection. */
    String hear(int seconds) throws IOException {
        socket.setSoTimeout(seconds * MS_PER_S);
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                return null;
            }
            if (next < ' ' || next > '~' || line.length() == LONGEST) {
                throw new IOException("the other host's line is not one of this protocol");
            }
            line.append((char) next);
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
