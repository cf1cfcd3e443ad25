-- NDNLPv2, the link protocol of NDN: what a frame holds beside its Interest or Data, fragments,
-- acknowledgements. The columns read as those of version 1: `Fragment 00000000000003e8 0/2`, `Ack …0005`.

local grammar = require("cairn-grammar")
local history = require("cairn-history")
local links = require("cairn-links")
local ndn = require("cairn-ndn")
local tlv = require("cairn-tlv")
local uri = require("cairn-uri")
local view = require("cairn-view")

local M = {}

-- Packets in a part of a stream.
local MAX_PACKETS = 1000

local LP_PACKET, FRAGMENT = 100, 80
local definition

local NUMBER, BYTES, STRING, NONE, FRAME = ftypes.UINT64, ftypes.BYTES, ftypes.STRING, ftypes.NONE,
    ftypes.FRAMENUM

local FIELDS = {
    unknown = { "Unknown field", BYTES },
    sequence = { "Sequence", STRING },
    frag_index = { "FragIndex", NUMBER, nil, base.DEC },
    frag_count = { "FragCount", NUMBER, nil, base.DEC },
    pit_token = { "PitToken", BYTES },
    nack = { "Nack", NONE },
    nack_reason = { "NackReason", NUMBER, nil, base.DEC },
    incoming_face_id = { "IncomingFaceId", NUMBER, nil, base.DEC },
    next_hop_face_id = { "NextHopFaceId", NUMBER, nil, base.DEC },
    cache_policy = { "CachePolicy", NONE },
    cache_policy_type = { "CachePolicyType", NUMBER, nil, base.DEC },
    congestion_mark = { "CongestionMark", NUMBER, nil, base.DEC },
    ack = { "Ack", STRING },
    tx_sequence = { "TxSequence", STRING },
    non_discovery = { "NonDiscovery", NONE },
    prefix_announcement = { "PrefixAnnouncement", NONE },
    explicit_rate = { "ExplicitRate", NUMBER, nil, base.DEC },
    echo_request = { "EchoRequest", BYTES },
    receive_capacity = { "ReceiveCapacity", NUMBER, nil, base.DEC },
    echo_reply = { "EchoReply", BYTES },
    padding = { "Padding", BYTES },
    parity = { "Parity", BYTES },
    fragment = { "Fragment", BYTES },
    ack_frame = { "Acknowledged packet", FRAME, nil, base.NONE },
    acknowledged_in = { "Acknowledged in", FRAME, nil, base.NONE },
    retransmission_of = { "Retransmission of", FRAME, nil, base.NONE },
    message = { "Sequence of the first fragment", STRING },
    fragment_frame = { "Fragment in", FRAME, nil, base.NONE },
    reassembled_in = { "Reassembled in", FRAME, nil, base.NONE },
    reassembled_length = { "Bytes of the packet", ftypes.UINT32, nil, base.DEC },
}

local REASONS = { [50] = "Congestion", [100] = "Duplicate", [150] = "NoRoute" }

local function show_announcement(seen, tree, from, to)
    if string.sub(ndn.show_packet(seen, tree, from, to), 1, 4) ~= "Data" then
        seen:complain(tree, "PrefixAnnouncement of other than a Data")
    end
end

-- In ascending order, the fragment last although its type is the smallest. The last six are Cairn's own.
local ROWS = {
    { 81, "sequence", "sequence" },
    { 82, "frag_index", "number" },
    { 83, "frag_count", "number" },
    { 98, "pit_token", "bytes", low = 1, high = 32 },
    { 800, "nack", "group", of = { { 801, "nack_reason", "number", words = REASONS } } },
    { 812, "incoming_face_id", "number" },
    { 816, "next_hop_face_id", "number" },
    { 820, "cache_policy", "group", of = {
        { 821, "cache_policy_type", "number", must = true, low = 1, high = 1, words = { "NoCache" } },
    } },
    { 832, "congestion_mark", "number" },
    { 836, "ack", "sequence", again = true },
    { 840, "tx_sequence", "sequence" },
    { 844, "non_discovery", "flag" },
    { 848, "prefix_announcement", "packet", show = show_announcement },
    { 936, "explicit_rate", "number", unit = "Interests in 1,000 s" },
    { 940, "echo_request", "bytes", low = 8, high = 8 },
    { 944, "receive_capacity", "number", unit = "bytes" },
    { 948, "echo_reply", "bytes", low = 8, high = 8 },
    { 952, "padding", "bytes" },
    { 956, "parity", "bytes" },
    { FRAGMENT, "fragment", "bytes", low = 1 },
    strict = true,
    is_ignorable = function(kind)
        return kind >= 800 and kind <= 959 and kind % 4 == 0
    end,
}

-- A number of sixteen hex digits less a small one.
local function minus(hex, number)
    local high = tonumber(string.sub(hex, 1, 8), 16)
    local low = tonumber(string.sub(hex, 9), 16) - number
    if low < 0 then
        high, low = (high - 1) % 4294967296, low + 4294967296
    end
    return string.format("%08x%08x", high, low)
end

local function note_history(seen, item, found, bytes)
    local flow = history.flow(seen.pinfo, "ndnlpv2")
    -- Acknowledgements name TxSequences, which count apart.
    local sent, answered = history.flow(seen.pinfo, "ndnlpv2 tx")
    if found.sequence and bytes then
        local record = history.packet(seen.pinfo, flow, found.sequence, bytes)
        if found.tx_sequence then
            history.alias(seen.pinfo, sent, found.tx_sequence, record)
        end
        links.show_packet(seen, item, record)
    end
    for _, ack in ipairs(found.all or {}) do
        local record = history.acknowledge(seen.pinfo, answered, ack.hex)
        if record and not seen:note(item, "ack_frame", record.frame) then
            break
        end
    end
    return flow
end

-- A fragment of several. Gives the line of the packet if it is whole now.
local function show_part(seen, item, outer, found, flow)
    local index, count = found.frag_index or 0, found.frag_count or 1
    if index >= count then
        seen:complain(item, "FragIndex that is not below FragCount")
        return nil
    elseif not found.sequence then
        seen:complain(item, "A fragment without Sequence")
        return nil
    elseif index >= 4294967296 then
        return nil
    end
    local base = minus(found.sequence, index)
    seen:note(item, "message", base)
    local bytes = string.sub(seen.bytes, found.fragment.from, found.fragment.to)
    local message = history.fragment(seen.pinfo, flow, base, index, count, bytes)
    local whole = links.show_message(seen, item, message, "Reassembled NDN packet")
    return whole and ndn.show_packet(view.new(definition, whole, seen.pinfo), outer, 1, whole:len())
end

local function show_fragment(seen, item, outer, found, flow)
    if not found.fragment then
        local acks = {}
        for at, ack in ipairs(found.all or {}) do
            acks[at] = ack.hex
        end
        return #acks > 0 and "Ack " .. table.concat(acks, " ", 1, math.min(#acks, 8)) or "Idle"
    elseif (found.frag_count or 1) == 1 and (found.frag_index or 0) == 0 then
        local line = ndn.show_packet(seen, outer, found.fragment.from, found.fragment.to)
        if found.nack then
            local reason = found.nack_reason and (REASONS[found.nack_reason] or found.nack_reason)
            return "Nack " .. (reason and tostring(reason) .. " " or "") .. line
        end
        return line
    end
    local index, count = found.frag_index or 0, found.frag_count or 1
    local line = string.format("Fragment %s %.0f/%.0f", found.sequence or "without Sequence", index, count)
    local whole = show_part(seen, item, outer, found, flow)
    return whole and line .. " " .. whole or line
end

local function show_lp(seen, tree, outer, element)
    local item = tree:add(definition.protocol, seen:range(element.at, element.to))
    local found = {}
    grammar.show(seen, item, element.from, element.to, ROWS, found)
    local fragment = found.fragment
    local bytes = fragment and string.sub(seen.bytes, fragment.from, fragment.to)
    local flow = note_history(seen, item, found, bytes)
    if fragment and fragment.to < fragment.from then
        return "Malformed"
    end
    return show_fragment(seen, item, outer, found, flow)
end

local function show_one(seen, tree, at)
    local element, problem = tlv.element(seen.bytes, at, #seen.bytes)
    if not element and seen.is_cut and problem.is_exact then
        element = { kind = problem.kind, at = at, from = problem.from, to = #seen.bytes }
    elseif not element then
        local item = tree:add(definition.protocol, seen:range(at, #seen.bytes))
        seen:explain(item, problem)
        return "Malformed", nil
    end
    if element.kind == LP_PACKET then
        return show_lp(seen, tree, tree, element), element
    end
    return ndn.show_packet(seen, tree, at, element.to), element
end

-- A frame, of Ethernet with its padding, or a datagram; in a stream packets follow each other.
function M.show(tvb, pinfo, tree, is_stream)
    local seen = view.new(definition, tvb, pinfo)
    local lines, at, is_lp = {}, 1, false
    while at <= #seen.bytes and #lines < MAX_PACKETS do
        is_lp = is_lp or string.byte(seen.bytes, at) == LP_PACKET
        local line, element = show_one(seen, tree, at)
        table.insert(lines, line)
        at = element and element.to + 1 or #seen.bytes + 1
        if not is_stream then
            break
        end
    end
    if at <= #seen.bytes and pinfo.src_port ~= 0 and not is_stream then
        seen:complain(tree, "Bytes behind the packet")
    end
    view.summarise(pinfo, is_lp and "NDNLPv2" or "NDN", lines)
    return tvb:len()
end

function M.register()
    local protocol = Proto("ndnlpv2", "NDN Link Protocol, version 2")
    definition = view.define(protocol, "ndnlpv2", FIELDS)
    grammar.entitle(ROWS, FIELDS)
    protocol.dissector = function(tvb, pinfo, tree)
        return tvb:len() > 0 and M.show(tvb, pinfo, tree, false) or 0
    end
    M.protocol = protocol
end

return M
