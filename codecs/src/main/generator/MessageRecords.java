import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import uk.co.real_logic.sbe.PrimitiveType;
import uk.co.real_logic.sbe.xml.CompositeType;
import uk.co.real_logic.sbe.xml.EncodedDataType;
import uk.co.real_logic.sbe.xml.EnumType;
import uk.co.real_logic.sbe.xml.Field;
import uk.co.real_logic.sbe.xml.Message;
import uk.co.real_logic.sbe.xml.MessageSchema;
import uk.co.real_logic.sbe.xml.ParserOptions;
import uk.co.real_logic.sbe.xml.SetType;
import uk.co.real_logic.sbe.xml.Type;
import uk.co.real_logic.sbe.xml.XmlSchemaParser;

/**
 * Generates from the schema of the control channel a record for each command, answer and event, which encodes and
 * decodes itself, and {@code ControlMessage}, what they have in common. SBE's own codecs are flyweights: whoever sends
 * or keeps a message would need the same fields a second time, and its DTOs refuse codes that the schema does not know.
 *
 * <p>Codes of enums and bits of sets are plain numbers in the records, so that whoever receives them decides what to
 * do about unknown ones. Run by the build with the schema, the folder of the sources, and the one for the codecs that
 * only tests use.
 */
public final class MessageRecords {
    /** Messages below are those of the handshake, which have a header. */
    private static final int FIRST_COMMAND = 7;
    private static final int FIRST_ANSWER = 40;
    private static final String CORRELATION_ID = "correlationId";
    private static final String RESERVED = "reserved";

    private final Path folder;
    private final String packageName;

    private MessageRecords(Path folder, String packageName) {
        this.folder = folder;
        this.packageName = packageName;
    }

    /** A component of a record, and the method that reads or writes it. */
    private record Member(String name, String type, String method, String label, String description) {
        static Member of(Field field) {
            Member plain = of(field.name(), field.type(), field.description());
            String label = field.semanticType() == null ? field.name() : field.semanticType();
            return new Member(plain.name, plain.type, plain.method, '"' + label + "\", ", plain.description);
        }

        static Member of(String name, Type type, String description) {
            if (type instanceof CompositeType composite && composite.getType("varData") == null) {
                return new Member(name, composite.name(), null, "", description);
            }
            if (type instanceof CompositeType text) {
                String encoding = ((EncodedDataType) text.getType("varData")).characterEncoding();
                String method = encoding == null ? "bytes" : encoding.equals("UTF-8") ? "utf8" : "ascii";
                return new Member(name, encoding == null ? "byte[]" : "String", method, "", description);
            }
            PrimitiveType primitive = type instanceof EnumType codes ? codes.encodingType()
                : type instanceof SetType bits ? bits.encodingType() : ((EncodedDataType) type).primitiveType();
            int bytes = primitive.size();
            return new Member(name, bytes == Long.BYTES ? "long" : "int", switch (bytes) {
                case Long.BYTES -> "int64";
                case Integer.BYTES -> "int32";
                case 1 -> "uint8";
                default -> throw new IllegalArgumentException(name + " has " + bytes + " bytes");
            }, "", description);
        }

        boolean isVariable() {
            return type.equals("String") || type.equals("byte[]");
        }

        String read() {
            return method == null ? type + ".decode(from)" : "from." + method + "()";
        }

        String write(String value) {
            return method == null ? value + ".encode(to)"
                : "to." + method + '(' + (isVariable() ? label : "") + value + ')';
        }
    }

    public static void main(String[] args) throws Exception {
        ParserOptions options = ParserOptions.builder().stopOnError(true).build();
        try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(args[0])))) {
            MessageSchema schema = XmlSchemaParser.parse(in, options);
            String place = schema.packageName().replace('.', '/');
            new MessageRecords(Path.of(args[1]).resolve(place), schema.packageName()).generate(schema);
            moveCodecs(schema, Path.of(args[1]).resolve(place), Path.of(args[2]).resolve(place));
        }
    }

    private void generate(MessageSchema schema) throws IOException {
        List<Message> messages = schema.messages().stream().filter(each -> each.id() >= FIRST_COMMAND).toList();
        for (Message message : messages) {
            record(message);
        }
        for (Type type : schema.types()) {
            if (type instanceof CompositeType composite && composite.name().endsWith("Fields")) {
                List<Member> members = composite.getTypeList().stream()
                    .map(each -> Member.of(each.name(), each, null)).toList();
                write(composite.name(), source(composite.name(), composite.description(), members, "", ""));
            }
        }
        write("ControlMessage", common(messages));
    }

    /** What the records replace is for tests alone, which compare and talk to the driver without them. */
    private static void moveCodecs(MessageSchema schema, Path from, Path to) throws IOException {
        Stream<String> kept = schema.messages().stream().filter(each -> each.id() < FIRST_COMMAND).map(Message::name);
        Set<String> names = Stream.concat(kept, Stream.of("MessageHeader"))
            .flatMap(name -> Stream.of(name + "Encoder.java", name + "Decoder.java")).collect(Collectors.toSet());
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.filter(each -> each.toString().endsWith("coder.java")).toList()) {
                if (!names.contains(file.getFileName().toString())) {
                    Files.move(file, to.resolve(file.getFileName()));
                }
            }
        }
    }

    private void record(Message message) throws IOException {
        boolean isCommand = message.id() < FIRST_ANSWER;
        List<Member> members = new ArrayList<>(message.fields().stream().map(Member::of).toList());
        boolean isAnswer = !isCommand && members.getFirst().name.equals(CORRELATION_ID);
        String answer = message.semanticType() == null ? "Done" : message.semanticType();
        if (isCommand) {
            // whoever sends it numbers it
            members.removeFirst();
        }
        String kind = isCommand ? "Command<" + answer + '>' : isAnswer ? "Answer" : "Event";
        String methods = "\n    /** Bytes in front of the texts. */\n    public static final int BLOCK_LENGTH = "
            + message.blockLength() + ";\n"
            + "\n    @Override\n    public int templateId() {\n        return " + message.id() + ";\n    }\n"
            + (isCommand ? "\n    @Override\n    public Class<" + answer + "> answer() {\n        return " + answer
            + ".class;\n    }\n" : "");
        write(message.name(), source(
            message.name(), message.description(), members, " implements ControlMessage." + kind, methods));
    }

    private static String source(
        String name, String description, List<Member> all, String kind, String methods) {
        List<Member> members = all.stream().filter(each -> !each.name.startsWith(RESERVED)).toList();
        String documented = members.stream().filter(each -> each.description != null)
            .map(each -> "\n * @param " + each.name + ' ' + each.description).collect(Collectors.joining());
        String components = members.stream().map(each -> each.type + ' ' + each.name)
            .collect(Collectors.joining(", "));
        String reads = all.stream().map(each -> "        " + (members.contains(each)
            ? each.type + ' ' + each.name + " = " : "") + each.read() + ";\n").collect(Collectors.joining());
        String writes = all.stream().map(each -> "        " + each.write(members.contains(each) ? each.name : "0")
            + ";\n").collect(Collectors.joining());
        String values = members.stream().map(Member::name).collect(Collectors.joining(", "));
        return """
            /**
             * %s%s
             */
            public record %s(%s)%s {
                public static %s decode(ControlMessage.Reader from) {
            %s        return new %s(%s);
                }
            %s
                %spublic void encode(ControlMessage.Writer to) {
            %s    }
            }
            """.formatted(description, documented.isEmpty() ? "" : "\n *" + documented, name, components, kind, name,
            reads, name, values, methods, kind.isEmpty() ? "" : "@Override\n    ", writes);
    }

    private static String common(List<Message> messages) {
        List<Message> commands = messages.stream().filter(each -> each.id() < FIRST_ANSWER).toList();
        List<Message> others = messages.stream().filter(each -> each.id() >= FIRST_ANSWER).toList();
        return """
            /** A message of the rings between a client and its driver. */
            public sealed interface ControlMessage permits ControlMessage.Command, ControlMessage.DriverMessage {
                /** Type of the record that it is in. */
                int templateId();

                /** Writes the fields in the order of the schema, those of a command behind its correlation id. */
                void encode(Writer to);

                /** A message of a client, which the driver answers. */
                sealed interface Command<A extends Answer> extends ControlMessage permits %s {
                    /** Kind of the last part of the answer, if it is no {@link CommandFailed}. */
                    Class<A> answer();
            %s    }

                /** A message of the driver. */
                sealed interface DriverMessage extends ControlMessage permits Answer, Event {
            %s    }

                /** It answers a command. */
                sealed interface Answer extends DriverMessage permits %s {
                    /** Id of the command. */
                    long correlationId();
                }

                /** It answers no command. */
                sealed interface Event extends DriverMessage permits %s {
                }

                /** Reads fields, one after the other. */
                interface Reader {
                    long int64();

                    int int32();

                    int uint8();

                    String ascii();

                    String utf8();

                    byte[] bytes();
                }

                /** Writes fields, one after the other. */
                interface Writer {
                    void int64(long value);

                    void int32(int value);

                    void uint8(int value);

                    void ascii(String name, String value);

                    void utf8(String name, String value);

                    void bytes(String name, byte[] value);
                }
            }
            """.formatted(names(commands), table("Command<?>", commands), table("DriverMessage", others),
            names(others.stream().filter(MessageRecords::isAnswer).toList()),
            names(others.stream().filter(each -> !isAnswer(each)).toList()));
    }

    private static boolean isAnswer(Message message) {
        return message.fields().getFirst().name().equals(CORRELATION_ID);
    }

    private static String names(List<Message> messages) {
        return messages.stream().map(Message::name).collect(Collectors.joining(", "));
    }

    private static String table(String type, List<Message> messages) {
        return """

                    /** The greatest template id. */
                    int MAX_TEMPLATE_ID = %d;

                    /** Bytes of the block of a message, -1 if there is none with that template id. */
                    static int blockLength(int templateId) {
                        return switch (templateId) {
            %s                default -> -1;
                        };
                    }

                    /** The number of texts behind the block. */
                    static int texts(int templateId) {
                        return switch (templateId) {
            %s                default -> 0;
                        };
                    }

                    /** Decodes a message, a command without its correlation id. */
                    static %s decode(int templateId, Reader from) {
                        return switch (templateId) {
            %s                default -> throw new IllegalArgumentException("template " + templateId);
                        };
                    }
            """.formatted(messages.stream().mapToInt(Message::id).max().getAsInt(),
            cases(messages, each -> String.valueOf(each.blockLength())),
            cases(messages, each -> String.valueOf(each.fields().stream().filter(Field::isVariableLength).count())),
            type, cases(messages, each -> each.name() + ".decode(from)"));
    }

    private static String cases(List<Message> messages, Function<Message, String> value) {
        return messages.stream().map(each -> "                case " + each.id() + " -> " + value.apply(each) + ";\n")
            .collect(Collectors.joining());
    }

    private void write(String name, String source) throws IOException {
        Files.writeString(folder.resolve(name + ".java"),
            "/* Generated by MessageRecords. */\npackage " + packageName + ";\n\n" + source);
    }
}
