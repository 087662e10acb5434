package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;

/**
 * A process of {@code src/test/c/fabric_peer.c}: a program of libfabric that executes commands, one for each
 * line, which that file lists. It is compiled when first needed.
 */
public final class LibfabricPeer implements AutoCloseable {
    private static final Path SOURCE = Path.of("tests", "src", "test", "c", "fabric_peer.c");
    private static final Path HEADER = Path.of("/usr/include/rdma/fabric.h");
    private static Path program;

    private final Process process;
    private final BufferedReader answers;
    private final Writer commands;
    private final Runnable pump;
    private final String listening;

    private LibfabricPeer(Process process, Runnable pump) {
        this.process = process;
        this.pump = pump;
        answers = process.inputReader(StandardCharsets.US_ASCII);
        commands = process.outputWriter(StandardCharsets.US_ASCII);
        listening = answer();
        assertTrue(listening.startsWith("listening "), listening);
    }

    /**
     * Starts a process on the loopback interface; skips the test, with the reason, where it cannot be compiled.
     *
     * @param provider of libfabric 1.17: {@code tcp}, {@code net}, {@code tcp;ofi_rxm}.
     * @param type     {@code msg}, {@code srx} for connected endpoints with tags, or {@code rdm}.
     * @param pump     called while the process is waited for.
     */
    public static LibfabricPeer start(String provider, String type, Runnable pump) {
        assumeTrue(!Network.LINK.startsWith("tls"), "C programs do not speak TLS");
        try {
            ProcessBuilder builder = new ProcessBuilder(program().toString(), provider, type);
            builder.environment().put("FI_TCP_IFACE", "lo");
            builder.environment().put("FI_NET_IFACE", "lo");
            return new LibfabricPeer(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start(), pump);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static synchronized Path program() throws IOException {
        if (program == null) {
            program = compile(SOURCE);
        }
        return program;
    }

    /**
     * Compiles a program of libfabric; skips the test, with the reason, where that is not possible.
     *
     * @param source file of the program, from the folder of the module.
     */
    public static Path compile(Path source) throws IOException {
        CSource.need(Files.exists(HEADER), HEADER + " is not there (apt-get install libfabric-dev)");
        return CSource.compile(source, "-lfabric");
    }

    /** As {@link TestProcess#signal}. */
    public void signal(String name) {
        TestProcess.signal(process, name);
    }

    /** Name of its endpoint, or where it listens. */
    public String name() {
        String[] words = listening.split(" ");
        return "fi_sockaddr_in://" + words[1] + ':' + words[2];
    }

    /** The value behind a word of the line that describes what it has opened. */
    public String described(String word) {
        List<String> words = List.of(listening.split(" "));
        return words.get(words.indexOf(word) + 1);
    }

    /** Tells it to do something and returns its answer. */
    public String ask(String command) {
        tell(command);
        return answer();
    }

    /** Tells it to do something and expects that answer. */
    public void ask(String command, String expected) {
        assertEquals(expected, ask(command), command);
    }

    /** Bytes of one of its regions; 0 is local memory. */
    public byte[] bytes(int slot, int offset, int length) {
        String answer = ask("bytes " + slot + ' ' + offset + ' ' + length);
        assertTrue(answer.startsWith("bytes"), answer);
        return HexFormat.of().parseHex(answer.substring("bytes".length()).strip());
    }

    /** Names this project's endpoint as its peer, or connects to it. */
    public void tellToConnect(String name) {
        String address = name.substring(name.indexOf("://") + 3);
        tell("connect " + address.replace(":", " "));
    }

    public void tell(String command) {
        try {
            commands.write(command);
            commands.write('\n');
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its next answer must be that. */
    public void answer(String expected) {
        assertEquals(expected, answer());
    }

    /** Its next answer. */
    public String answer() {
        try {
            Deadline deadline = Deadline.usual();
            while (!answers.ready()) {
                deadline.check("an answer of the C program", () -> process.isAlive() ? "it runs" : "it has ended");
                pump.run();
                Thread.yield();
            }
            return answers.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
