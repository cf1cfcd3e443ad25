-- What came before a frame in the same capture: fragments that belong together, packets that were sent
-- before, and those that an acknowledgement is for. Both link protocols use it.
--
-- Wireshark shows a frame several times, and in any order after the first. What is found the first time is
-- kept for that frame; the objects grow as later frames come, so that an early fragment knows in the end
-- where its message is complete.

local M = {}

-- Packets that are remembered. Then all are forgotten, and a retransmission of an older one is not known.
M.MAX_PACKETS = 500000
-- Messages to which fragments are added, or found to have been; the oldest is given up.
M.MAX_MESSAGES = 2000
M.MAX_MESSAGE_BYTES = 1048576
M.MAX_FRAGMENTS = 65535

local state

-- Forgets everything: another capture is opened.
function M.clear()
    state = { packets = {}, packet_count = 0, messages = {}, recent = {}, first = 1, last = 0, frames = {} }
end
M.clear()

-- What is kept for a frame. Read the first time, when Wireshark may not yet know the interface.
local interface = Field.new("frame.interface_id")

local function kept_for(pinfo)
    local kept = state.frames[pinfo.number]
    if not kept then
        local number = interface()
        kept = { place = " " .. tostring(number and number.value) .. " " }
        state.frames[pinfo.number] = kept
    end
    return kept
end

-- What tells streams of packets apart: the protocol, the interface that the capture names, and both ends.
-- Gives the key of this frame's sender and receiver, and that of the way back.
function M.flow(pinfo, protocol)
    local place = protocol .. kept_for(pinfo).place
    local from = tostring(pinfo.src) .. " " .. tostring(pinfo.src_port) .. " "
    local to = tostring(pinfo.dst) .. " " .. tostring(pinfo.dst_port) .. " "
    return place .. from .. to, place .. to .. from
end

-- Tells packets of one number apart: a sender that has started anew counts anew.
local function fingerprint(bytes)
    return #bytes .. ":" .. string.sub(bytes, 1, 32) .. string.sub(bytes, -32)
end

-- Keeps for this frame what `find` gives the first time, under `key`.
local function once(pinfo, key, find)
    local kept = kept_for(pinfo)
    if kept[key] == nil then
        kept[key] = find() or false
    end
    return kept[key] or nil
end

-- A packet with this number. Gives a record of `frame`, `before` (the frame that had it first, if there was
-- one), and, once it is known, `acknowledged`.
function M.packet(pinfo, flow, number, bytes)
    return once(pinfo, flow .. number, function()
        local key, print = flow .. number, fingerprint(bytes)
        local known = state.packets[key]
        local record = { frame = pinfo.number, print = print }
        if known and known.print == print and known.frame ~= pinfo.number then
            record.before = known.before or known.frame
        end
        if not known then
            state.packet_count = state.packet_count + 1
        end
        if state.packet_count > M.MAX_PACKETS then
            state.packets, state.packet_count = {}, 1
        end
        state.packets[key] = record
        return record
    end)
end

-- An acknowledgement in this frame of a packet on the way back. Gives the packet's record.
function M.acknowledge(pinfo, flow, number)
    return once(pinfo, "ack " .. flow .. number, function()
        local record = state.packets[flow .. number]
        if record then
            record.acknowledged = record.acknowledged or pinfo.number
        end
        return record
    end)
end

-- Remembers a number of another kind for a packet: NDNLPv2 acknowledges TxSequences.
function M.alias(pinfo, flow, number, record)
    once(pinfo, "alias " .. flow .. number, function()
        state.packets[flow .. number] = record
        state.packet_count = state.packet_count + 1
        return record
    end)
end

local function give_up_oldest()
    while state.last - state.first + 1 > M.MAX_MESSAGES do
        local oldest = state.recent[state.first]
        if state.messages[oldest.key] == oldest then
            state.messages[oldest.key] = nil
        end
        if not oldest.complete then
            oldest.parts = {}
        end
        state.recent[state.first] = nil
        state.first = state.first + 1
    end
end

local function begin(key, count)
    local message = { key = key, count = count, parts = {}, have = 0, bytes = 0 }
    state.messages[key] = message
    state.last = state.last + 1
    state.recent[state.last] = message
    give_up_oldest()
    return message
end

local function complete(message, frame)
    local all, total = {}, 0
    for at = 1, message.count do
        all[at] = message.parts[at].bytes
        total = total + #all[at]
        message.parts[at].bytes = nil
    end
    message.complete = frame
    message.payload = table.concat(all)
end

-- Whether a fragment cannot belong to `message`: another message has its number by now.
local function is_another(message, index, count, print)
    local part = message.parts[index + 1]
    return message.count ~= count or part ~= nil and part.print ~= print
end

-- Adds fragment `index` of `count` of the message that `base` names. Gives the message: `count`, `parts`
-- with the `frame` of each, and once all are there `complete`, the frame, and `payload`. Nothing if there
-- are too many.
function M.fragment(pinfo, flow, base, index, count, bytes)
    return once(pinfo, "fragment " .. flow .. base .. " " .. index, function()
        if index >= count or count > M.MAX_FRAGMENTS then
            return nil
        end
        local key, print = flow .. base, fingerprint(bytes)
        local message = state.messages[key]
        if not message or is_another(message, index, count, print) then
            message = begin(key, count)
        end
        if message.parts[index + 1] or message.complete then
            return message
        end
        message.bytes = message.bytes + #bytes
        if message.bytes > M.MAX_MESSAGE_BYTES then
            return nil
        end
        message.parts[index + 1] = { frame = pinfo.number, bytes = bytes, print = print }
        message.have = message.have + 1
        if message.have == count then
            complete(message, pinfo.number)
        end
        return message
    end)
end

return M
