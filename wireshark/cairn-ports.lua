-- Where packets are looked for, and which language those speak that come there.
--
-- Ethertype 0x8624 and the ports of CCNx carry more than one protocol: the first bytes tell. NDNLP version 1
-- begins with `NdL`, an Interest, a Data and an LpPacket of NDN with 05, 06 and 64; everything else is ccnb.

local ccnb = require("cairn-ccnb")
local ccnx = require("cairn-ccnx")
local history = require("cairn-history")
local ndn = require("cairn-ndn")
local ndnlp = require("cairn-ndnlp")
local ndnlpv2 = require("cairn-ndnlpv2")
local tlv = require("cairn-tlv")

local M = {}

local ETHERTYPE, IP_PROTOCOL = 0x8624, 150
-- ndnld uses 29695, its paper says 9695.
local CCNX_PORTS, NDN_UDP_PORTS, NDN_TCP_PORTS = "9695,29695", "6363,56363", "6363"
local NDN_WEB_PORT = 9696

local NDN_FIRST = { [0x05] = true, [0x06] = true, [0x64] = true }

-- Takes whole messages off the front of a stream and has `show` show them. `length_of(bytes, at)` gives the
-- bytes of the message at `at`, or how many are missing up to its end (0 if that is not known), or a problem.
local function stream(tvb, pinfo, length_of, show)
    local bytes, at = tvb:raw(), 1
    while at <= #bytes do
        local length, missing, problem = length_of(bytes, at)
        if problem then
            -- Where the next message begins is not known: what is here is shown, with what is wrong with it.
            at = #bytes + 1
        elseif not length then
            if at > 1 then
                show(tvb(0, at - 1):tvb())
            end
            pinfo.desegment_offset = at - 1
            pinfo.desegment_len = missing > 0 and missing or DESEGMENT_ONE_MORE_SEGMENT
            return tvb:len()
        else
            at = at + length
        end
    end
    show(tvb)
    return tvb:len()
end

local function length_of_ccnb(bytes, at)
    local node, problem = ccnb.parse(bytes, at, #bytes)
    if not problem then
        return node.stop - at + 1
    elseif problem.missing then
        -- What is missing is the end of a value: how much of the message there is behind it is not known.
        return nil, 0
    end
    return nil, nil, problem
end

-- What ccnd and its clients send: datagrams of messages or of NDNLP; connections, which also ask for the status
-- page, over HTTP.
local function dissect_ccnx(tvb, pinfo, tree)
    if tvb:len() == 0 then
        return 0
    end
    local head = tvb:raw(0, math.min(5, tvb:len()))
    local is_link, is_stream = ndnlp.is_packet(head, 1), pinfo.can_desegment > 0
    if is_stream and (string.find(head, "^GET ") or head == "HTTP/") then
        return Dissector.get("http"):call(tvb, pinfo, tree)
    elseif not is_stream then
        return (is_link and ndnlp or ccnx).dissect(tvb, pinfo, tree)
    end
    return stream(tvb, pinfo, length_of_ccnb, function(whole)
        if is_link then
            ndnlp.show(whole, pinfo, tree, true)
        else
            ccnx.dissect(whole, pinfo, tree)
        end
    end)
end

local function length_of_tlv(bytes, at)
    local element, problem = tlv.element(bytes, at, #bytes)
    if element then
        return element.to - at + 1
    elseif problem.missing and problem.missing <= tlv.MAX_PACKET then
        return nil, problem.is_exact and problem.missing or 0
    end
    return nil, nil, problem
end

local function dissect_ndn(tvb, pinfo, tree)
    if tvb:len() == 0 then
        return 0
    elseif pinfo.can_desegment > 0 then
        return stream(tvb, pinfo, length_of_tlv, function(whole)
            ndnlpv2.show(whole, pinfo, tree, true)
        end)
    end
    return ndnlpv2.show(tvb, pinfo, tree, false)
end

-- A frame of Ethernet, of either dialect.
local function dissect_frame(tvb, pinfo, tree)
    if tvb:len() > 0 and NDN_FIRST[string.byte(tvb:raw(0, 1))] then
        return dissect_ndn(tvb, pinfo, tree)
    end
    return dissect_ccnx(tvb, pinfo, tree)
end

local function add(table_name, pattern, made)
    local ok, found = pcall(DissectorTable.get, table_name)
    if ok and found then
        found:add(pattern, made)
    end
end

function M.register()
    ccnx.protocol.init = history.clear
    ccnx.protocol.dissector = dissect_ccnx
    ndn.protocol.dissector = dissect_ndn
    local link = Proto("named-data", "NDN, NDNLP or CCNx over Ethernet")
    link.dissector = dissect_frame
    add("ethertype", ETHERTYPE, link)
    add("ip.proto", IP_PROTOCOL, ndnlp.protocol)
    add("udp.port", CCNX_PORTS, ccnx.protocol)
    add("tcp.port", CCNX_PORTS, ccnx.protocol)
    add("udp.port", NDN_UDP_PORTS, ndn.protocol)
    add("tcp.port", NDN_TCP_PORTS, ndn.protocol)
    add("ws.port", NDN_WEB_PORT, ndn.protocol)
end

return M
