package org.jfabric.driver.conductor;

import org.jfabric.codec.control.AcceptConnection;
import org.jfabric.codec.control.CloseObject;
import org.jfabric.codec.control.ConnectEndpoint;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.codec.control.ControlWork;
import org.jfabric.codec.control.DrainDriver;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.codec.control.EnableRegion;
import org.jfabric.codec.control.ExplainPath;
import org.jfabric.codec.control.InsertAddress;
import org.jfabric.codec.control.JoinGroup;
import org.jfabric.codec.control.LeaveGroup;
import org.jfabric.codec.control.Listen;
import org.jfabric.codec.control.NamePassiveEndpoint;
import org.jfabric.codec.control.OpenAddressVector;
import org.jfabric.codec.control.OpenCompletionQueue;
import org.jfabric.codec.control.OpenCounter;
import org.jfabric.codec.control.OpenPassiveEndpoint;
import org.jfabric.codec.control.OpenScalableEndpoint;
import org.jfabric.codec.control.OpenTable;
import org.jfabric.codec.control.OpenView;
import org.jfabric.codec.control.OpenWaitSet;
import org.jfabric.codec.control.PassFile;
import org.jfabric.codec.control.PublishService;
import org.jfabric.codec.control.QueryInfo;
import org.jfabric.codec.control.QueueCounterWork;
import org.jfabric.codec.control.RegisterRegion;
import org.jfabric.codec.control.RegisterWithCard;
import org.jfabric.codec.control.RejectConnection;
import org.jfabric.codec.control.RemoveAddress;
import org.jfabric.codec.control.ResetCycleTimes;
import org.jfabric.codec.control.ShutdownEndpoint;

/** What the driver does for each message of a client. */
final class CommandTable {
    private CommandTable() {
    }

    /**
     * The command for a message.
     *
     * @throws org.jfabric.info.FabricException to refuse it.
     */
    static Command command(CommandRequest request, ControlMessage.Command<?> of) {
        return switch (of) {
            case OpenCompletionQueue message -> new OpenCompletionQueueCommand(request, message);
            case OpenAddressVector message -> new OpenAddressVectorCommand(request, message);
            case InsertAddress message -> new InsertAddressCommand(request, message);
            case RemoveAddress message -> new InsertAddressCommand.Removal(request, message);
            case RegisterRegion message -> new RegisterRegionCommand(request, message);
            case PassFile plain -> new PassFileCommand(request);
            case EnableRegion message -> new EnableRegionCommand(request, message);
            case RegisterWithCard message -> new RegisterWithCardCommand(request, message);
            case EnableEndpoint message -> new EnableEndpointCommand(request, message);
            case PublishService message -> new PublishServiceCommand(request, message);
            case CloseObject message -> new CloseObjectCommand(request, message);
            case QueryInfo message -> new QueryInfoCommand(request, message);
            case OpenWaitSet message -> new OpenWaitSetCommand(request, message);
            case OpenCounter message -> new OpenCounterCommand(request, message);
            case ExplainPath message -> new ExplainPathCommand(request, message);
            case OpenTable message -> new OpenTableCommand(request, message);
            case OpenView message -> new OpenViewCommand(request, message);
            case DrainDriver message -> new DrainDriverCommand(request, message);
            case ResetCycleTimes plain -> new ResetCycleTimesCommand(request);
            case OpenScalableEndpoint message -> new OpenScalableEndpointCommand(request, message);
            case OpenPassiveEndpoint message -> new OpenPassiveEndpointCommand(request, message);
            case NamePassiveEndpoint message -> new NamePassiveEndpointCommand(request, message);
            case Listen message -> new ListenCommand(request, message);
            case ConnectEndpoint message -> new ConnectCommand(request, message);
            case AcceptConnection message -> ChangeEndpointCommand.accept(request, message);
            case RejectConnection message -> ChangeEndpointCommand.reject(request, message);
            case ShutdownEndpoint message -> ChangeEndpointCommand.shutdown(request, message);
            case JoinGroup message -> new JoinGroupCommand(request, message);
            case LeaveGroup message -> ChangeEndpointCommand.leave(request, message);
            case QueueCounterWork message -> WorkCommands.queue(request, message);
            case ControlWork message -> WorkCommands.control(request, message);
        };
    }
}
