-- Dissectors for Wireshark: the wire of streams between hosts (UDP), which codecs/src/main/resources/stream.xml
-- describes, and libfabric's wires of the links tcp and rxm (TCP). Both find their packets by themselves; "Decode As"
-- chooses them for a port. What is encrypted is not shown; of a sealed stream, for whose port "Decode As" has to choose
-- jfabric_sealed, who has sealed a datagram, and its number.

-- ---- fields ----

-- Fields of a protocol by name, made when a message is described: {name, bytes, kind of ProtoField, text, values}.
local function field(proto, known, name, kind, text, values)
    if known[name] == nil then
        local make = ProtoField[kind]
        local abbreviation = proto.name:lower() .. "." .. name
        if kind == "bytes" or kind == "string" then
            known[name] = make(abbreviation, text or name)
        else
            known[name] = make(abbreviation, text or name, kind:find("^int") and base.DEC or values and base.DEC
                or kind == "uint64" and base.HEX or base.DEC, values)
        end
    end
    return known[name]
end

local function listed(known)
    local all = {}
    for _, each in pairs(known) do
        all[#all + 1] = each
    end
    return all
end

-- ---- streams between hosts ----

local stream = Proto("jfabric_stream", "JFabric stream")
local sf = {}
local STREAM_SCHEMA = 105
local TAGGED, HAS_DATA = 1, 2

-- Numbers and positions are decimal, what was drawn at random is hexadecimal.
local function number(name, bytes) return {name, bytes, bytes == 8 and "int64" or "uint32"} end
local function drawn(name) return {name, 8, "uint64"} end
local function code(name) return {name, 4, "int32"} end

-- The blocks of stream.xml, by template.
local templates = {
    [1] = {"Data", {drawn("stream"), number("position", 8), number("count", 2), number("is_repair", 2),
        number("reserved", 4)}},
    [3] = {"Fragment", {drawn("stream"), number("position", 8), number("length", 4), number("first_byte", 4),
        number("flags", 4), number("is_repair", 4), drawn("tag"), drawn("data")}},
    [4] = {"Heartbeat", {drawn("stream"), number("next", 8), number("oldest", 8)}},
    [5] = {"Lost", {drawn("stream"), number("first", 8), number("last", 8), number("is_recorded", 4),
        number("reserved", 4)}},
    [6] = {"Bye", {drawn("stream"), drawn("member"), number("end", 8), code("errno"), number("reserved", 4)}},
    [7] = {"Echo", {drawn("stream"), number("time_ns", 8)}},
    [8] = {"Gone", {drawn("member"), drawn("reserved8")}},
    [9] = {"Status", {drawn("member"), number("received", 8), number("consumed", 8), number("time_ns", 8),
        number("window", 4), number("round_trip_ns", 4), number("timeout_ns", 4), number("arrived_bytes", 4)}},
    [10] = {"Nak", {drawn("member"), number("time_ns", 8), number("arrived_bytes", 4), number("reserved", 4)}},
    [11] = {"Leave", {drawn("member"), number("received", 8)}},
    [12] = {"Join", {drawn("reader"), drawn("cookie"), number("time_ns", 8), drawn("log_id_high"),
        drawn("log_id_low"), number("position", 8), code("term"), number("datagram_length", 4), drawn("member")}},
    [13] = {"Cookie", {drawn("reader"), drawn("cookie"), number("time_ns", 8)}},
    [14] = {"Accept", {drawn("reader"), number("time_ns", 8), drawn("stream"), drawn("member"),
        drawn("log_id_high"), drawn("log_id_low"), number("start", 8), number("next", 8), code("term"),
        number("ring_length", 4), number("fragment_length", 4), number("accept_flags", 4), drawn("reserved8")}},
    [15] = {"Refuse", {drawn("reader"), number("time_ns", 8), drawn("log_id_high"), drawn("log_id_low"),
        number("oldest", 8), number("next", 8), code("term"), code("errno"), number("accept_flags", 4),
        number("reserved", 4)}},
}

local type_names = {}
for id, template in pairs(templates) do
    type_names[id] = template[1]
    for _, each in ipairs(template[2]) do
        field(stream, sf, each[1], each[3])
    end
end
field(stream, sf, "type", "uint32", "type", type_names)
for _, name in ipairs({"block_length", "schema", "version", "message_length", "message_flags", "range_first_byte",
    "range_end_byte"}) do
    field(stream, sf, name, "uint32")
end
for _, name in ipairs({"message_position", "range_first", "range_end"}) do
    field(stream, sf, name, "int64")
end
field(stream, sf, "message_tag", "uint64")
field(stream, sf, "message_data", "uint64")
field(stream, sf, "payload", "bytes")
field(stream, sf, "group", "string")
field(stream, sf, "reader_name", "string")
stream.fields = listed(sf)

local function has_bit(flags, bit)
    return math.floor(flags / bit) % 2 == 1
end

-- The messages of a Data.
local function messages(tvb, tree, at, count, position)
    for _ = 1, count do
        if at + 8 > tvb:len() then
            return
        end
        local length, flags = tvb(at, 4):le_uint(), tvb(at + 4, 4):le_uint()
        local head = 8 + (has_bit(flags, TAGGED) and 8 or 0) + (has_bit(flags, HAS_DATA) and 8 or 0)
        if at + head + length > tvb:len() then
            return
        end
        local of = tree:add(
            stream, tvb(at, head + length), "Message " .. tostring(position) .. ", " .. length .. " bytes")
        of:add(sf.message_position, tvb(at, 0), position):set_generated()
        of:add_le(sf.message_length, tvb(at, 4))
        of:add_le(sf.message_flags, tvb(at + 4, 4))
        local word = at + 8
        if has_bit(flags, TAGGED) then
            of:add_le(sf.message_tag, tvb(word, 8))
            word = word + 8
        end
        if has_bit(flags, HAS_DATA) then
            of:add_le(sf.message_data, tvb(word, 8))
        end
        if length > 0 then
            of:add(sf.payload, tvb(at + head, length))
        end
        at = at + math.ceil((head + length) / 8) * 8
        position = position + 1
    end
end

-- The ranges of a Nak.
local function ranges(tvb, tree, at)
    if at + 8 > tvb:len() then
        return 0
    end
    local bytes, count = tvb(at, 2):le_uint(), tvb(at + 2, 2):le_uint()
    for i = 0, count - 1 do
        local from = at + 8 + i * bytes
        if bytes < 24 or from + bytes > tvb:len() then
            break
        end
        local of = tree:add(stream, tvb(from, bytes), "Range from " .. tostring(tvb(from, 8):le_int64())
            .. " to before " .. tostring(tvb(from + 8, 8):le_int64()))
        of:add_le(sf.range_first, tvb(from, 8))
        of:add_le(sf.range_end, tvb(from + 8, 8))
        of:add_le(sf.range_first_byte, tvb(from + 16, 4))
        of:add_le(sf.range_end_byte, tvb(from + 20, 4))
    end
    return count
end

-- The texts of a Join.
local function texts(tvb, tree, at)
    for _, name in ipairs({"group", "reader_name"}) do
        if at + 4 > tvb:len() or at + 4 + tvb(at, 4):le_uint() > tvb:len() then
            return
        end
        local length = tvb(at, 4):le_uint()
        if length > 0 then
            tree:add(sf[name], tvb(at + 4, length))
        end
        at = at + 4 + length
    end
end

local function is_stream(tvb)
    if tvb:len() < 16 or tvb(4, 2):le_uint() ~= STREAM_SCHEMA then
        return false
    end
    local template = templates[tvb(2, 2):le_uint()]
    local block = tvb(0, 2):le_uint()
    return template ~= nil and block >= 8 and 8 + block <= tvb:len()
end

function stream.dissector(tvb, pinfo, root)
    if not is_stream(tvb) then
        return 0
    end
    pinfo.cols.protocol = "JFabric"
    local id, block = tvb(2, 2):le_uint(), tvb(0, 2):le_uint()
    local name, fields = templates[id][1], templates[id][2]
    local tree = root:add(stream, tvb(), "JFabric stream, " .. name)
    tree:add_le(sf.block_length, tvb(0, 2))
    tree:add_le(sf.type, tvb(2, 2))
    tree:add_le(sf.schema, tvb(4, 2))
    tree:add_le(sf.version, tvb(6, 2))
    local at, info, is_repair = 8, name, false
    for _, each in ipairs(fields) do
        -- a later version may have more fields, an earlier one fewer
        if at + each[2] > 8 + block then
            break
        end
        local value = tvb(at, each[2])
        tree:add_le(sf[each[1]], value)
        if each[3] == "int64" and each[1] ~= "time_ns" then
            info = info .. " " .. each[1] .. "=" .. tostring(value:le_int64())
        elseif each[1] == "count" or each[1] == "errno" then
            info = info .. " " .. each[1] .. "=" .. tostring(value:le_int())
        end
        is_repair = is_repair or each[1] == "is_repair" and value:le_uint() == 1
        at = at + each[2]
    end
    at = 8 + block
    if id == 1 then
        messages(tvb, tree, at, tvb(24, 2):le_uint(), tvb(16, 8):le_int64())
    elseif id == 3 and at < tvb:len() then
        tree:add(sf.payload, tvb(at))
    elseif id == 10 then
        info = info .. " ranges=" .. ranges(tvb, tree, at)
    elseif id == 12 then
        texts(tvb, tree, at)
    end
    pinfo.cols.info = info .. (is_repair and " (repair)" or "")
    return tvb:len()
end

stream:register_heuristic("udp", function(tvb, pinfo, root)
    if not is_stream(tvb) then
        return false
    end
    stream.dissector(tvb, pinfo, root)
    return true
end)
DissectorTable.get("udp.port"):add_for_decode_as(stream)

-- ---- sealed streams: nothing marks their datagrams, so they are not found without a port ----

local sealed = Proto("jfabric_sealed", "JFabric sealed stream")
local session = ProtoField.bytes("jfabric_sealed.session", "session")
local sealed_number = ProtoField.uint64("jfabric_sealed.number", "number", base.DEC)
local sealed_bytes = ProtoField.bytes("jfabric_sealed.datagram", "datagram, encrypted")
local sealed_tag = ProtoField.bytes("jfabric_sealed.tag", "tag")
sealed.fields = {session, sealed_number, sealed_bytes, sealed_tag}

function sealed.dissector(tvb, pinfo, root)
    if is_stream(tvb) then
        return stream.dissector(tvb, pinfo, root)
    end
    local bytes = tvb:len() - 40
    if bytes < 8 then
        return 0
    end
    pinfo.cols.protocol = "JFabric"
    pinfo.cols.info = "sealed number=" .. tostring(tvb(16, 8):uint64()) .. " bytes=" .. bytes
    local tree = root:add(sealed, tvb(), "JFabric stream, sealed")
    tree:add(session, tvb(0, 16))
    tree:add(sealed_number, tvb(16, 8))
    tree:add(sealed_bytes, tvb(24, bytes))
    tree:add(sealed_tag, tvb(24 + bytes, 16))
    return tvb:len()
end
DissectorTable.get("udp.port"):add_for_decode_as(sealed)

-- ---- libfabric over TCP ----

local tcp = Proto("libfabric_tcp", "libfabric tcp")
local rxm = Proto("libfabric_rxm", "libfabric rxm")
local tf, rf = {}, {}
local VERSION, MOST_HEADER, HEADER, SETUP = 3, 120, 16, 32

local ops = {[0] = "message", "tagged", "read request", "read response", "write", "rendezvous", "clear to send",
    "rendezvous data"}
local setups = {[0] = "connection request", [1] = "connection response", [6] = "reject"}
local packets = {[0] = "eager", "segment", "rendezvous", "rendezvous read done", "atomic request", "atomic response",
    "credit", "rendezvous write", "rendezvous write done"}
local rxm_ops = {[0] = "message", [1] = "tagged", [6] = "atomic", [7] = "fetch atomic", [8] = "compare atomic"}

field(tcp, tf, "version", "uint32")
field(tcp, tf, "setup", "uint32", "setup", setups)
field(tcp, tf, "setup_length", "uint32")
field(tcp, tf, "probe", "uint64")
field(tcp, tf, "op", "uint32", "op", ops)
for _, name in ipairs({"flags", "op_data", "header_length"}) do
    field(tcp, tf, name, "uint32")
end
field(tcp, tf, "is_ack", "uint32")
field(tcp, tf, "length", "int64")
field(tcp, tf, "total_length", "int64")
for _, name in ipairs({"cq_data", "tag", "address", "key"}) do
    field(tcp, tf, name, "uint64")
end
field(tcp, tf, "range_length", "int64")
field(tcp, tf, "port", "uint32")
field(tcp, tf, "process", "uint32")
field(tcp, tf, "payload", "bytes")
tcp.fields = listed(tf)
field(rxm, rf, "type", "uint32", "type", packets)
field(rxm, rf, "op", "uint32", "op", rxm_ops)
for _, name in ipairs({"segment_length", "segment", "flags", "eager_limit", "port", "reason"}) do
    field(rxm, rf, name, "uint32")
end
for _, name in ipairs({"connection", "message", "data", "tag", "address", "key"}) do
    field(rxm, rf, name, "uint64")
end
for _, name in ipairs({"length", "credits", "range_length"}) do
    field(rxm, rf, name, "int64")
end
field(rxm, rf, "payload", "bytes")
rxm.fields = listed(rf)

-- Whether the words are little-endian: a length that is not has its low bytes at the end.
local function is_little(tvb)
    return tvb(12, 4):le_uint() == 0
end

local function add(tree, of, value, little)
    if little then
        return tree:add_le(of, value)
    end
    return tree:add(of, value)
end

local function whole(tvb, at, little)
    return little and tvb(at, 8):le_uint64() or tvb(at, 8):uint64()
end

-- A header of data has the length of itself in byte 6, where the header of a setup has a zero.
local function is_setup(tvb)
    return tvb(0, 1):uint() == VERSION and setups[tvb(1, 1):uint()] ~= nil and tvb(4, 4):uint() == 0
end

local function is_tcp(tvb)
    if tvb:len() < HEADER or tvb(0, 1):uint() ~= VERSION then
        return false
    end
    if is_setup(tvb) then
        return tvb:len() >= SETUP and tvb(2, 2):uint() <= 256 and tvb(8, 8):uint64() == UInt64(0)
            and tvb(16, 8):uint64() == UInt64(0)
    end
    local header = tvb(6, 1):uint()
    local little = is_little(tvb)
    return ops[tvb(1, 1):uint()] ~= nil and header >= HEADER and header <= MOST_HEADER and header % 8 == 0
        and (little or tvb(8, 4):uint() == 0) and whole(tvb, 8, little):tonumber() >= header
end

-- What rxm gives the connection when it is set up, or libfabric's own layer for unconnected endpoints.
local function setup_data(tvb, tree)
    local length = tvb:len()
    if length == 24 and tvb(2, 1):uint() == 4 then
        local of = tree:add(rxm, tvb(), "libfabric rxm, connection")
        of:add_le(rf.port, tvb(4, 2))
        of:add_le(rf.eager_limit, tvb(8, 4))
        of:add_le(rf.connection, tvb(16, 8))
    elseif length == 16 then
        tree:add(rxm, tvb(), "libfabric rxm, accepted"):add_le(rf.connection, tvb(0, 8))
    elseif length == 2 then
        tree:add(rxm, tvb(), "libfabric rxm, rejected"):add(rf.reason, tvb(1, 1))
    elseif length == 8 then
        tree:add(tf.port, tvb(2, 2))
        tree:add(tf.process, tvb(4, 4))
    elseif length > 0 then
        tree:add(tf.payload, tvb())
    end
end

local function is_rxm(tvb)
    return tvb:len() >= 64 and tvb(0, 1):uint() == 4 and packets[tvb(1, 1):uint()] ~= nil and tvb(32, 1):uint() == 2
        and rxm_ops[tvb(34, 1):uint()] ~= nil
end

-- Fields that do not belong to the type may have anything in them, and are not shown.
local function rxm_packet(tvb, root)
    local kind = tvb(1, 1):uint()
    local tree = root:add(rxm, tvb(), "libfabric rxm, " .. packets[kind])
    local info = "rxm " .. packets[kind]
    tree:add_le(rf.type, tvb(1, 1))
    tree:add_le(rf.connection, tvb(8, 8))
    if kind ~= 0 and kind ~= 6 then
        tree:add_le(rf.message, tvb(16, 8))
    end
    if kind == 1 then
        tree:add_le(rf.segment_length, tvb(2, 2))
        tree:add_le(rf.segment, tvb(4, 4))
    elseif kind == 6 then
        tree:add_le(rf.credits, tvb(24, 8))
    end
    if kind <= 2 or kind == 4 then
        local op = tvb(34, 1):uint()
        tree:add_le(rf.op, tvb(34, 1))
        tree:add_le(rf.flags, tvb(36, 4))
        tree:add_le(rf.length, tvb(40, 8))
        if has_bit(tvb(36, 4):le_uint(), 0x20000) then
            tree:add_le(rf.data, tvb(48, 8))
        end
        info = info .. " " .. rxm_ops[op] .. " length=" .. tostring(tvb(40, 8):le_uint64())
        if op == 1 then
            tree:add_le(rf.tag, tvb(56, 8))
            info = info .. " tag=0x" .. tvb(56, 8):le_uint64():tohex()
        end
    end
    if (kind == 2 or kind == 7) and tvb:len() >= 64 + 104 then
        for i = 0, math.min(4, tvb(64 + 96, 1):uint()) - 1 do
            local at = 64 + 24 * i
            tree:add_le(rf.address, tvb(at, 8))
            tree:add_le(rf.range_length, tvb(at + 8, 8))
            tree:add_le(rf.key, tvb(at + 16, 8))
        end
    elseif tvb:len() > 64 then
        tree:add(rf.payload, tvb(64))
    end
    return info
end

local function setup(tvb, tree)
    tree:add(tf.setup, tvb(1, 1))
    tree:add(tf.setup_length, tvb(2, 2))
    tree:add_le(tf.probe, tvb(24, 8))
    if tvb:len() > SETUP then
        setup_data(tvb(SETUP):tvb(), tree)
    end
    return setups[tvb(1, 1):uint()]
end

local function message(tvb, tree)
    local little = is_little(tvb)
    local op, header = tvb(1, 1):uint(), math.min(tvb(6, 1):uint(), tvb:len())
    local flags = little and tvb(2, 2):le_uint() or tvb(2, 2):uint()
    tree:add(tf.op, tvb(1, 1))
    add(tree, tf.flags, tvb(2, 2), little)
    tree:add(tf.op_data, tvb(4, 1))
    tree:add(tf.header_length, tvb(6, 1))
    add(tree, tf.length, tvb(8, 8), little)
    local info = ops[op] .. " length=" .. tostring(whole(tvb, 8, little))
    if op == 0 and tvb(4, 1):uint() == 2 then
        tree:add(tf.is_ack, tvb(4, 1), 1)
        info = "acknowledgement"
    end
    local at = HEADER
    local function word(name)
        if at + 8 <= header then
            add(tree, tf[name], tvb(at, 8), little)
            at = at + 8
        end
    end
    if has_bit(flags, 1) and (op == 0 or op == 1 or op == 4 or op == 5) then
        word("cq_data")
    end
    if op == 1 or op == 5 or op == 0 and has_bit(flags, 0x80) then
        if at + 8 <= header then
            info = info .. " tag=0x" .. whole(tvb, at, little):tohex()
        end
        word("tag")
    end
    if op == 5 then
        word("total_length")
    end
    while (op == 2 or op == 4) and at + 24 <= header do
        word("address")
        word("range_length")
        word("key")
    end
    if header < tvb:len() then
        local payload = tvb(header):tvb()
        if op == 0 and is_rxm(payload) then
            info = rxm_packet(payload, tree)
        else
            tree:add(tf.payload, payload())
        end
    end
    return info
end

local function length_of(tvb, _, offset)
    local rest = tvb(offset):tvb()
    if is_setup(rest) then
        return SETUP + rest(2, 2):uint()
    end
    local length = whole(rest, 8, is_little(rest))
    return length > UInt64(0x40000000) and rest:len() or math.max(HEADER, length:tonumber())
end

local function one(tvb, pinfo, root)
    local tree = root:add(tcp, tvb())
    tree:add(tf.version, tvb(0, 1))
    local info = is_setup(tvb) and tvb:len() >= SETUP and setup(tvb, tree) or message(tvb, tree)
    pinfo.cols.protocol = "libfabric"
    pinfo.cols.info:append(" " .. info)
    pinfo.cols.info:fence()
    return tvb:len()
end

function tcp.dissector(tvb, pinfo, root)
    pinfo.cols.info = ""
    dissect_tcp_pdus(tvb, root, HEADER, length_of, one)
    return tvb:len()
end

tcp:register_heuristic("tcp", function(tvb, pinfo, root)
    if not is_tcp(tvb) then
        return false
    end
    pinfo.conversation = tcp
    tcp.dissector(tvb, pinfo, root)
    return true
end)
DissectorTable.get("tcp.port"):add_for_decode_as(tcp)
