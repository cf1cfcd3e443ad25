-- NDNLP version 1, the link protocol of ndnld: packets, fragments, acknowledgements. The columns read as in
-- figures 4 and 5 of NDN-0006: `Data 8a4810d0f08b 0/5`, `Ack 8a4810d0f08b`.

local ccnb = require("cairn-ccnb")
local ccnx = require("cairn-ccnx")
local dictionary = require("cairn-dictionary")
local history = require("cairn-history")
local links = require("cairn-links")
local view = require("cairn-view")

local M = {}

-- Acknowledged packets of one frame that are shown by number.
local MAX_SHOWN = 1000
-- Packets in a part of a stream.
local MAX_PACKETS = 1000

local SEQUENCES = 2 ^ 48
-- The highest bit of the flags asks for an acknowledgement.
local RLA = 0x8000

local definition

local FIELDS = {
    data = { "NdnlpData", ftypes.NONE },
    sequence = { "NdnlpSequence", ftypes.STRING },
    flags = { "NdnlpFlags", ftypes.UINT16, nil, base.HEX },
    frag_index = { "NdnlpFragIndex", ftypes.UINT16, nil, base.DEC },
    frag_count = { "NdnlpFragCount", ftypes.UINT16, nil, base.DEC },
    payload = { "NdnlpPayload", ftypes.BYTES },
    ack = { "NdnlpAck", ftypes.NONE },
    ack_block = { "NdnlpAckBlock", ftypes.NONE },
    sequence_base = { "NdnlpSequenceBase", ftypes.STRING },
    bitmap = { "NdnlpBitmap", ftypes.BYTES },
    acknowledges = { "Acknowledges", ftypes.STRING },
    acknowledges_frame = { "Acknowledged packet", ftypes.FRAMENUM, nil, base.NONE },
    acknowledged_in = { "Acknowledged in", ftypes.FRAMENUM, nil, base.NONE },
    retransmission_of = { "Retransmission of", ftypes.FRAMENUM, nil, base.NONE },
    message = { "Number of the message", ftypes.STRING },
    fragment_frame = { "Fragment in", ftypes.FRAMENUM, nil, base.NONE },
    reassembled_in = { "Reassembled in", ftypes.FRAMENUM, nil, base.NONE },
    reassembled_length = { "Bytes of the message", ftypes.UINT32, nil, base.DEC },
}

-- The elements of a packet that hold a value, and their fields.
local KEYS = {
    NdnlpSequence = "sequence", NdnlpFlags = "flags", NdnlpFragIndex = "frag_index",
    NdnlpFragCount = "frag_count", NdnlpPayload = "payload", NdnlpSequenceBase = "sequence_base",
    NdnlpBitmap = "bitmap",
}

local function twelve(number)
    return string.format("%012x", number)
end

-- Shows an element with a value; gives the number it is, and where its bytes are.
local function show_value(seen, tree, node)
    if node.is_open and #node.children == 0 then
        return nil
    end
    local element = dictionary.element(node.tag)
    local key = element and KEYS[element.name]
    local value = key and ccnb.value_of(node)
    local length = value and value.to - value.from + 1
    local is_sized = length and length >= element.low and length <= (element.high or length)
    if not is_sized or value.kind ~= "blob" then
        seen:complain(tree, (dictionary.name_of(node) or "a value") .. " that is not as it has to be")
        return nil
    end
    local number = length <= 6 and ccnb.number(seen.bytes, value.from, value.to) or nil
    local text
    if key == "sequence" or key == "sequence_base" then
        text = twelve(number)
    end
    local item = seen:add(tree, key, value.from, value.to, text)
    if item and key == "flags" then
        item:append_text(number >= RLA and " (RLA: wants an acknowledgement)" or " (none)")
    end
    return number, value
end

-- Shows the values in `node`. Gives numbers by the names of their fields, and the places of the values.
local function show_values(seen, tree, node)
    local numbers, places = {}, {}
    dictionary.check_order(node, function(_, text)
        seen:complain(tree, text)
    end)
    for _, child in ipairs(node.children) do
        if child.children then
            local key = KEYS[dictionary.name_of(child)]
            local number, place = show_value(seen, tree, child)
            if key then
                numbers[key], places[key] = number, place
            end
        end
    end
    return numbers, places
end

local function show_data(seen, tree, outer, node)
    local item = seen:add(tree, "data", node.at, node.stop)
    if not item then
        return "Data"
    end
    local numbers, places = show_values(seen, item, node)
    local sequence, payload = numbers.sequence, places.payload
    if not sequence then
        return "Data"
    end
    local line = "Data " .. twelve(sequence)
    if numbers.frag_count or numbers.frag_index then
        line = line .. string.format(" %d/%d", numbers.frag_index or 0, numbers.frag_count or 1)
    end
    if not payload then
        return line
    end
    local flow = history.flow(seen.pinfo, "ndnlp")
    local bytes = string.sub(seen.bytes, payload.from, payload.to)
    links.show_packet(seen, item, history.packet(seen.pinfo, flow, twelve(sequence), bytes))
    local index, count = numbers.frag_index or 0, numbers.frag_count or 1
    if index >= count then
        seen:complain(item, "NdnlpFragIndex that is not below NdnlpFragCount")
    elseif count == 1 then
        ccnx.show_messages(seen, outer, payload.from, payload.to)
    else
        local base = twelve((sequence - index) % SEQUENCES)
        seen:note(item, "message", base)
        local message = history.fragment(seen.pinfo, flow, base, index, count, bytes)
        local whole = links.show_message(seen, item, message, "Reassembled NDNLP message")
        if whole then
            ccnx.show_messages(view.new(definition, whole, seen.pinfo), outer, 1, whole:len())
        end
    end
    return line
end

-- Bit i of a bitmap, the highest of its first byte being bit 0, stands for the packet `base` + i.
local function show_bitmap(seen, tree, place, base, shown)
    local _, back = history.flow(seen.pinfo, "ndnlp")
    for at = place.from, place.to do
        local octet = string.byte(seen.bytes, at)
        for bit = 0, octet > 0 and 7 or -1 do
            if math.floor(octet / 2 ^ (7 - bit)) % 2 == 1 then
                shown = shown + 1
                if shown > MAX_SHOWN then
                    tree:add_proto_expert_info(definition.experts.limit, "More than " .. MAX_SHOWN
                        .. " packets are acknowledged: the rest is not shown")
                    return shown
                end
                local number = twelve((base + (at - place.from) * 8 + bit) % SEQUENCES)
                local item = seen:add(tree, "acknowledges", at, at, number)
                local record = item and history.acknowledge(seen.pinfo, back, number)
                if record then
                    seen:note(item, "acknowledges_frame", record.frame)
                end
            end
        end
    end
    return shown
end

local function show_ack(seen, tree, _, node)
    local item = seen:add(tree, "ack", node.at, node.stop)
    if not item then
        return "Ack"
    end
    dictionary.check_order(node, function(_, text)
        seen:complain(item, text)
    end)
    local first, shown = nil, 0
    for _, child in ipairs(node.children) do
        local block = child.children and seen:add(item, "ack_block", child.at, child.stop)
        if block then
            local numbers, places = show_values(seen, block, child)
            first = first or numbers.sequence_base
            if numbers.sequence_base and places.bitmap and shown <= MAX_SHOWN then
                shown = show_bitmap(seen, block, places.bitmap, numbers.sequence_base, shown)
            end
        end
    end
    return first and "Ack " .. twelve(first) or "Ack"
end

local PACKETS = { NdnlpData = show_data, NdnlpAck = show_ack }

-- Whether the bytes from `at` on are a packet of NDNLP version 1.
function M.is_packet(bytes, at)
    local head = string.sub(bytes, at, at + 3)
    return head == "NdL\130" or head == "NdL\178"
end

-- A packet, and behind it nothing or padding. With `stream` there may be more.
function M.show(tvb, pinfo, tree, is_stream)
    local seen = view.new(definition, tvb, pinfo)
    local lines, at = {}, 1
    while at <= #seen.bytes and #lines < MAX_PACKETS do
        local node, problem = ccnb.parse(seen.bytes, at, #seen.bytes)
        local item = tree:add(definition.protocol, seen:range(at, node and node.stop or #seen.bytes))
        local show = node and PACKETS[dictionary.name_of(node)]
        if show then
            table.insert(lines, show(seen, item, tree, node))
        else
            seen:complain(item, "Neither NdnlpData nor NdnlpAck")
        end
        if problem then
            seen:explain(item, problem)
        end
        if not node or problem or not is_stream then
            break
        end
        at = node.stop + 1
    end
    view.summarise(pinfo, "NDNLP", #lines > 0 and lines or { "Malformed" })
    return tvb:len()
end

function M.dissect(tvb, pinfo, tree)
    if tvb:len() == 0 then
        return 0
    end
    return M.show(tvb, pinfo, tree, false)
end

function M.register()
    local protocol = Proto("ndnlp", "NDN Link Protocol, version 1")
    definition = view.define(protocol, "ndnlp", FIELDS)
    protocol.dissector = M.dissect
    M.protocol = protocol
end

return M
