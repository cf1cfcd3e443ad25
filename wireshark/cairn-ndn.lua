-- NDN packet format v0.3: Interests and Data, as trees and as a line.

local grammar = require("cairn-grammar")
local tlv = require("cairn-tlv")
local uri = require("cairn-uri")
local view = require("cairn-view")

local M = {}

-- Bytes of a packet, by its specification.
local MAX_BYTES = 8800

local definition

local NUMBER, BYTES, STRING, NONE, TIME = ftypes.UINT64, ftypes.BYTES, ftypes.STRING, ftypes.NONE,
    ftypes.ABSOLUTE_TIME

M.FIELDS = {
    interest = { "Interest", NONE },
    data = { "Data", NONE },
    unknown = { "Unknown element", BYTES },
    name = { "Name", STRING },
    component = { "Component", STRING },
    can_be_prefix = { "CanBePrefix", NONE },
    must_be_fresh = { "MustBeFresh", NONE },
    forwarding_hint = { "ForwardingHint", NONE },
    delegation = { "Delegation", STRING },
    nonce = { "Nonce", BYTES },
    lifetime = { "InterestLifetime", NUMBER, nil, base.DEC },
    hop_limit = { "HopLimit", NUMBER, nil, base.DEC },
    parameters = { "ApplicationParameters", BYTES },
    meta_info = { "MetaInfo", NONE },
    content_type = { "ContentType", NUMBER, nil, base.DEC },
    freshness = { "FreshnessPeriod", NUMBER, nil, base.DEC },
    final_block_id = { "FinalBlockId", STRING },
    content = { "Content", BYTES },
    signature_info = { "SignatureInfo", NONE },
    signature_type = { "SignatureType", NUMBER, nil, base.DEC },
    key_locator = { "KeyLocator", NONE },
    key_name = { "Name of the key", STRING },
    key_digest = { "KeyDigest", BYTES },
    signature_nonce = { "SignatureNonce", BYTES },
    signature_time = { "SignatureTime", TIME, nil, base.UTC },
    signature_seq_num = { "SignatureSeqNum", NUMBER, nil, base.DEC },
    validity_period = { "ValidityPeriod", NONE },
    not_before = { "NotBefore", STRING },
    not_after = { "NotAfter", STRING },
    additional_description = { "AdditionalDescription", NONE },
    description_entry = { "DescriptionEntry", NONE },
    description_key = { "DescriptionKey", STRING },
    description_value = { "DescriptionValue", STRING },
    signature_value = { "SignatureValue", BYTES },
}

local CONTENT_TYPES = { [0] = "BLOB", [1] = "LINK", [2] = "KEY", [3] = "NACK", [4] = "MANIFEST",
    [5] = "PREFIX ANNOUNCEMENT", [1024] = "FLIC" }
local SIGNATURE_TYPES = { [0] = "DigestSha256", [1] = "SignatureSha256WithRsa",
    [3] = "SignatureSha256WithEcdsa", [4] = "SignatureHmacWithSha256", [5] = "SignatureEd25519",
    [200] = "NullSignature" }

local DESCRIPTION = {
    { 512, "description_entry", "group", again = true, of = {
        { 513, "description_key", "text", must = true },
        { 514, "description_value", "text", must = true },
    } },
}

local KEY_LOCATOR = {
    { 7, "key_name", "name" },
    { 29, "key_digest", "bytes", low = 32, high = 32 },
}

local SIGNATURE_INFO = {
    { 27, "signature_type", "number", must = true, words = SIGNATURE_TYPES },
    { 28, "key_locator", "group", of = KEY_LOCATOR },
    { 38, "signature_nonce", "bytes", low = 1 },
    { 40, "signature_time", "number", seconds = true },
    { 42, "signature_seq_num", "number" },
    { 253, "validity_period", "group", of = {
        { 254, "not_before", "text", must = true },
        { 255, "not_after", "text", must = true },
    } },
    { 258, "additional_description", "group", of = DESCRIPTION },
}

local INTEREST = {
    { 7, "name", "name", must = true },
    { 33, "can_be_prefix", "flag" },
    { 18, "must_be_fresh", "flag" },
    { 30, "forwarding_hint", "group", of = { { 7, "delegation", "name", must = true, again = true } } },
    { 10, "nonce", "bytes", low = 4, high = 4 },
    { 12, "lifetime", "number", unit = "ms" },
    { 34, "hop_limit", "number", high = 255 },
    { 36, "parameters", "bytes" },
    { 44, "signature_info", "group", of = SIGNATURE_INFO },
    { 46, "signature_value", "bytes" },
}

-- Types 128 to 252 belong to the application, odd ones too.
local META_INFO = {
    { 24, "content_type", "number", words = CONTENT_TYPES },
    { 25, "freshness", "number", unit = "ms" },
    { 26, "final_block_id", "component" },
    is_ignorable = function(kind)
        return kind >= 128 and kind <= 252 or kind > 31 and kind % 2 == 0
    end,
}

local DATA = {
    { 7, "name", "name", must = true },
    { 20, "meta_info", "group", of = META_INFO },
    { 21, "content", "bytes" },
    { 22, "signature_info", "group", must = true, of = SIGNATURE_INFO },
    { 23, "signature_value", "bytes", must = true },
}

local PACKETS = { [5] = { "interest", INTEREST, "Interest" }, [6] = { "data", DATA, "Data" } }

local function check(seen, item, kind, found)
    if kind == 5 and found.components and #found.components == 0 then
        seen:complain(item, "An Interest without a name")
    elseif kind == 5 and found.signature_value and not found.signature_type then
        seen:complain(item, "A signature without its InterestSignatureInfo")
    end
end

-- Shows the packet that fills from..to of a view of any protocol. Gives its line.
function M.show_packet(outer, tree, from, to)
    local seen = outer:as(definition)
    local item = tree:add(definition.protocol, seen:range(from, to))
    local element, problem = tlv.element(seen.bytes, from, to)
    if not element and problem.is_exact and seen.is_cut then
        element = { kind = problem.kind, at = from, from = problem.from, to = to }
    elseif not element then
        seen:explain(item, problem)
        return "Malformed"
    end
    local row = PACKETS[element.kind]
    if not row then
        seen:complain(item, string.format("A packet of type %.0f, which there is not", element.kind))
        return "Malformed"
    elseif element.to < to then
        seen:complain(item, "Bytes behind the packet")
    elseif to - from + 1 > MAX_BYTES then
        seen:complain(item, "A packet of more than " .. MAX_BYTES .. " bytes")
    end
    local found = {}
    local packet = seen:add(item, row[1], element.at, element.to)
    if packet then
        grammar.show(seen, packet, element.from, element.to, row[2], found)
        check(seen, packet, element.kind, found)
    end
    return row[3] .. " " .. (found.name or uri.ndn({}))
end

function M.register()
    local protocol = Proto("ndn", "Named Data Networking")
    definition = view.define(protocol, "ndn", M.FIELDS)
    for _, row in pairs(PACKETS) do
        grammar.entitle(row[2], M.FIELDS)
    end
    M.protocol = protocol
end

return M
