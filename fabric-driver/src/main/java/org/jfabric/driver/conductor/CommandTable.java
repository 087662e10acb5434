package org.jfabric.driver.conductor;

import java.util.function.Function;
import org.jfabric.codec.control.AcceptConnectionDecoder;
import org.jfabric.codec.control.CloseObjectDecoder;
import org.jfabric.codec.control.ConnectEndpointDecoder;
import org.jfabric.codec.control.ControlWorkDecoder;
import org.jfabric.codec.control.DrainDriverDecoder;
import org.jfabric.codec.control.EnableEndpointDecoder;
import org.jfabric.codec.control.EnableRegionDecoder;
import org.jfabric.codec.control.ExplainPathDecoder;
import org.jfabric.codec.control.InsertAddressDecoder;
import org.jfabric.codec.control.JoinGroupDecoder;
import org.jfabric.codec.control.LeaveGroupDecoder;
import org.jfabric.codec.control.ListenDecoder;
import org.jfabric.codec.control.NamePassiveEndpointDecoder;
import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.codec.control.OpenCounterDecoder;
import org.jfabric.codec.control.OpenPassiveEndpointDecoder;
import org.jfabric.codec.control.OpenScalableEndpointDecoder;
import org.jfabric.codec.control.OpenViewDecoder;
import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.codec.control.PassFileDecoder;
import org.jfabric.codec.control.PublishServiceDecoder;
import org.jfabric.codec.control.QueryInfoDecoder;
import org.jfabric.codec.control.QueueCounterWorkDecoder;
import org.jfabric.codec.control.RegisterRegionDecoder;
import org.jfabric.codec.control.RegisterWithCardDecoder;
import org.jfabric.codec.control.RejectConnectionDecoder;
import org.jfabric.codec.control.RemoveAddressDecoder;
import org.jfabric.codec.control.ResetCycleTimesDecoder;
import org.jfabric.codec.control.ShutdownEndpointDecoder;

/** The commands of clients by template id: their lengths, which are checked first, and their decoders. */
final class CommandTable {
    /** Greatest template id that a command ring may carry; ids below it without an entry are refused. */
    static final int MAX_TEMPLATE_ID = 255;

    private static final Entry[] ENTRIES = new Entry[MAX_TEMPLATE_ID + 1];

    static {
        add(OpenCompletionQueueDecoder.TEMPLATE_ID, OpenCompletionQueueDecoder.BLOCK_LENGTH, 0,
            OpenCompletionQueueCommand::new);
        add(OpenAddressVectorDecoder.TEMPLATE_ID, OpenAddressVectorDecoder.BLOCK_LENGTH, 1,
            OpenAddressVectorCommand::new);
        add(InsertAddressDecoder.TEMPLATE_ID, InsertAddressDecoder.BLOCK_LENGTH, 1, InsertAddressCommand::new);
        add(RemoveAddressDecoder.TEMPLATE_ID, RemoveAddressDecoder.BLOCK_LENGTH, 0, InsertAddressCommand.Removal::new);
        add(RegisterRegionDecoder.TEMPLATE_ID, RegisterRegionDecoder.BLOCK_LENGTH, 0, RegisterRegionCommand::new);
        add(PassFileDecoder.TEMPLATE_ID, PassFileDecoder.BLOCK_LENGTH, 0, PassFileCommand::new);
        add(EnableRegionDecoder.TEMPLATE_ID, EnableRegionDecoder.BLOCK_LENGTH, 1, EnableRegionCommand::new);
        add(RegisterWithCardDecoder.TEMPLATE_ID, RegisterWithCardDecoder.BLOCK_LENGTH, 3,
            RegisterWithCardCommand::new);
        add(EnableEndpointDecoder.TEMPLATE_ID, EnableEndpointDecoder.BLOCK_LENGTH, 9, EnableEndpointCommand::new);
        add(PublishServiceDecoder.TEMPLATE_ID, PublishServiceDecoder.BLOCK_LENGTH, 1, PublishServiceCommand::new);
        add(CloseObjectDecoder.TEMPLATE_ID, CloseObjectDecoder.BLOCK_LENGTH, 0, CloseObjectCommand::new);
        add(QueryInfoDecoder.TEMPLATE_ID, QueryInfoDecoder.BLOCK_LENGTH, 9, QueryInfoCommand::new);
        add(OpenWaitSetDecoder.TEMPLATE_ID, OpenWaitSetDecoder.BLOCK_LENGTH, 0, OpenWaitSetCommand::new);
        add(OpenCounterDecoder.TEMPLATE_ID, OpenCounterDecoder.BLOCK_LENGTH, 0, OpenCounterCommand::new);
        add(ExplainPathDecoder.TEMPLATE_ID, ExplainPathDecoder.BLOCK_LENGTH, 0, ExplainPathCommand::new);
        add(DrainDriverDecoder.TEMPLATE_ID, DrainDriverDecoder.BLOCK_LENGTH, 0, DrainCommand::new);
        add(ResetCycleTimesDecoder.TEMPLATE_ID, ResetCycleTimesDecoder.BLOCK_LENGTH, 0, ResetCycleTimesCommand::new);
        add(OpenViewDecoder.TEMPLATE_ID, OpenViewDecoder.BLOCK_LENGTH, 0, OpenViewCommand::new);
        add(OpenPassiveEndpointDecoder.TEMPLATE_ID, OpenPassiveEndpointDecoder.BLOCK_LENGTH, 3,
            OpenPassiveEndpointCommand::new);
        add(NamePassiveEndpointDecoder.TEMPLATE_ID, NamePassiveEndpointDecoder.BLOCK_LENGTH, 1,
            NamePassiveEndpointCommand::new);
        add(OpenScalableEndpointDecoder.TEMPLATE_ID, OpenScalableEndpointDecoder.BLOCK_LENGTH, 1,
            OpenScalableEndpointCommand::new);
        add(ListenDecoder.TEMPLATE_ID, ListenDecoder.BLOCK_LENGTH, 0, ListenCommand::new);
        add(ConnectEndpointDecoder.TEMPLATE_ID, ConnectEndpointDecoder.BLOCK_LENGTH, 2, ConnectCommand::new);
        add(AcceptConnectionDecoder.TEMPLATE_ID, AcceptConnectionDecoder.BLOCK_LENGTH, 1,
            ChangeEndpointCommand::accept);
        add(RejectConnectionDecoder.TEMPLATE_ID, RejectConnectionDecoder.BLOCK_LENGTH, 1,
            ChangeEndpointCommand::reject);
        add(ShutdownEndpointDecoder.TEMPLATE_ID, ShutdownEndpointDecoder.BLOCK_LENGTH, 0,
            ChangeEndpointCommand::shutdown);
        add(JoinGroupDecoder.TEMPLATE_ID, JoinGroupDecoder.BLOCK_LENGTH, 1, JoinGroupCommand::new);
        add(LeaveGroupDecoder.TEMPLATE_ID, LeaveGroupDecoder.BLOCK_LENGTH, 0, JoinGroupCommand::leave);
        add(QueueCounterWorkDecoder.TEMPLATE_ID, QueueCounterWorkDecoder.BLOCK_LENGTH, 0, WorkCommands::queue);
        add(ControlWorkDecoder.TEMPLATE_ID, ControlWorkDecoder.BLOCK_LENGTH, 0, WorkCommands::control);
    }

    /**
     * A kind of command.
     *
     * @param varFields   number of variable-length fields after the block.
     * @param decoder     creates the command; a {@link org.jfabric.info.FabricException} from it refuses the command.
     */
    record Entry(int blockLength, int varFields, Function<CommandRequest, Command> decoder) {
    }

    private CommandTable() {
    }

    /**
     * The kind of a command.
     *
     * @param templateId 0 to {@link #MAX_TEMPLATE_ID}.
     * @return null if there is no such command.
     */
    static Entry get(int templateId) {
        return ENTRIES[templateId];
    }

    private static void add(
        int templateId, int blockLength, int varFields, Function<CommandRequest, Command> decoder) {
        ENTRIES[templateId] = new Entry(blockLength, varFields, decoder);
    }
}
