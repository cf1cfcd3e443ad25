-- The dictionary of CCNx 0.8 and NDNLP version 1: what the numbers of elements stand for, what an element
-- holds, and which elements follow each other in it.

local M = {}

-- What an element holds:
--   group     other elements
--   name      the components of a name
--   component one of them
--   blob      bytes
--   number    bytes that are a number, the highest first
--   decimal   digits
--   text      a text
--   any       text or bytes: senders differ
--   time      a BLOB of seconds with twelve bits behind the point, since 1970
--   lifetime  a BLOB of seconds with twelve bits behind the point
--   type      the three bytes of a type of content, or a text
--   flags     flags of a forwarding entry: digits, or two bytes of ndnld
--   content   what an object carries
-- Numbers behind it are the fewest and the most bytes of a BLOB, or the largest decimal number.
M.ELEMENTS = {
    [13] = { "Any", "group" },
    [14] = { "Name", "name" },
    [15] = { "Component", "component" },
    [16] = { "Certificate", "blob", 1 },
    [17] = { "Collection", "group" },
    [18] = { "CompleteName", "group" },
    [19] = { "Content", "content" },
    [20] = { "SignedInfo", "group" },
    [21] = { "ContentDigest", "blob" },
    [22] = { "ContentHash", "blob" },
    [24] = { "Count", "decimal" },
    [25] = { "Header", "group" },
    [26] = { "Interest", "group" },
    [27] = { "Key", "blob", 1 },
    [28] = { "KeyLocator", "group" },
    [29] = { "KeyName", "group" },
    [30] = { "Length", "decimal" },
    [31] = { "Link", "group" },
    [32] = { "LinkAuthenticator", "group" },
    [33] = { "NameComponentCount", "decimal" },
    [34] = { "ExtOpt", "blob" },
    [36] = { "RootDigest", "blob" },
    [37] = { "Signature", "group" },
    [38] = { "Start", "decimal" },
    [39] = { "Timestamp", "time", 1, 8 },
    [40] = { "Type", "type" },
    [41] = { "Nonce", "blob", 4, 64 },
    [42] = { "Scope", "decimal", 9 },
    [43] = { "Exclude", "group" },
    [44] = { "Bloom", "blob", 1, 1032 },
    [45] = { "BloomSeed", "blob" },
    [47] = { "AnswerOriginKind", "decimal" },
    [48] = { "InterestLifetime", "lifetime", 1, 8 },
    [53] = { "Witness", "blob", 8 },
    [54] = { "SignatureBits", "blob", 16 },
    [55] = { "DigestAlgorithm", "text" },
    [56] = { "BlockSize", "decimal" },
    [58] = { "FreshnessSeconds", "decimal" },
    [59] = { "FinalBlockID", "blob", 1 },
    [60] = { "PublisherPublicKeyDigest", "blob", 16, 64 },
    [61] = { "PublisherCertificateDigest", "blob", 16, 64 },
    [62] = { "PublisherIssuerKeyDigest", "blob", 16, 64 },
    [63] = { "PublisherIssuerCertificateDigest", "blob", 16, 64 },
    [64] = { "ContentObject", "group" },
    [65] = { "WrappedKey", "group" },
    [66] = { "WrappingKeyIdentifier", "blob" },
    [67] = { "WrapAlgorithm", "text" },
    [68] = { "KeyAlgorithm", "text" },
    [69] = { "Label", "any" },
    [70] = { "EncryptedKey", "blob" },
    [71] = { "EncryptedNonceKey", "blob" },
    [72] = { "WrappingKeyName", "name" },
    [73] = { "Action", "text" },
    [74] = { "FaceID", "decimal" },
    [75] = { "IPProto", "decimal" },
    [76] = { "Host", "text" },
    [77] = { "Port", "decimal", 65535 },
    [78] = { "MulticastInterface", "text" },
    [79] = { "ForwardingFlags", "flags" },
    [80] = { "FaceInstance", "group" },
    [81] = { "ForwardingEntry", "group" },
    [82] = { "MulticastTTL", "decimal" },
    [83] = { "MinSuffixComponents", "decimal" },
    [84] = { "MaxSuffixComponents", "decimal" },
    [85] = { "ChildSelector", "decimal", 5 },
    [86] = { "RepositoryInfo", "group" },
    [87] = { "Version", "text" },
    [88] = { "RepositoryVersion", "text" },
    [89] = { "GlobalPrefix", "text" },
    [90] = { "LocalName", "text" },
    [91] = { "Policy", "group" },
    [92] = { "Namespace", "text" },
    [93] = { "GlobalPrefixName", "name" },
    [94] = { "PolicyVersion", "text" },
    [95] = { "KeyValueSet", "group" },
    [96] = { "KeyValuePair", "group" },
    [97] = { "IntegerValue", "any" },
    [98] = { "DecimalValue", "any" },
    [99] = { "StringValue", "any" },
    [100] = { "BinaryValue", "any" },
    [101] = { "NameValue", "group" },
    [102] = { "Entry", "any" },
    [103] = { "ACL", "group" },
    [104] = { "ParameterizedName", "group" },
    [105] = { "Prefix", "name" },
    [106] = { "Suffix", "name" },
    [107] = { "Root", "group" },
    [108] = { "ProfileName", "name" },
    [109] = { "Parameters", "any" },
    [110] = { "InfoString", "text" },
    [112] = { "StatusResponse", "group" },
    [113] = { "StatusCode", "text" },
    [114] = { "StatusText", "text" },
    [115] = { "SyncNode", "group" },
    [116] = { "SyncNodeKind", "any" },
    [117] = { "SyncNodeElement", "any" },
    [118] = { "SyncVersion", "any" },
    [119] = { "SyncNodeElements", "group" },
    [120] = { "SyncContentHash", "blob" },
    [121] = { "SyncLeafCount", "any" },
    [122] = { "SyncTreeDepth", "any" },
    [123] = { "SyncByteCount", "any" },
    [124] = { "SyncConfigSlice", "group" },
    [125] = { "SyncConfigSliceList", "group" },
    [126] = { "SyncConfigSliceOp", "any" },
    [127] = { "SyncNodeDeltas", "group" },
    [144] = { "StrategySelection", "group" },
    [145] = { "StrategyID", "text" },
    [146] = { "StrategyParameters", "text" },
    [256] = { "SequenceNumber", "number", 1, 6 },
    [17702112] = { "CCNProtocolDataUnit", "group" },
    [20653248] = { "NdnlpData", "group" },
    [20653249] = { "NdnlpSequence", "number", 6, 6 },
    [20653250] = { "NdnlpFlags", "number", 2, 2 },
    [20653251] = { "NdnlpFragIndex", "number", 2, 2 },
    [20653252] = { "NdnlpFragCount", "number", 2, 2 },
    [20653253] = { "NdnlpPayload", "blob" },
    [20653254] = { "NdnlpAck", "group" },
    [20653255] = { "NdnlpAckBlock", "group" },
    [20653256] = { "NdnlpSequenceBase", "number", 6, 6 },
    [20653257] = { "NdnlpBitmap", "blob", 1 },
    [20653264] = { "NdnldConnection", "group" },
    [20653265] = { "NdnldLowerProtocol", "text" },
    [20653266] = { "NdnldLocalInterface", "text" },
    [20653267] = { "NdnldSentPktsCapacity", "decimal" },
    [20653268] = { "NdnldRetransmitCount", "decimal" },
    [20653269] = { "NdnldRetransmitTime", "decimal" },
    [20653270] = { "NdnldAcknowledgeTime", "decimal" },
}

local PUBLISHER = "PublisherPublicKeyDigest|PublisherCertificateDigest|PublisherIssuerKeyDigest"
    .. "|PublisherIssuerCertificateDigest"

-- What follows what. `!` must be there, `*` may stand again; alternatives have a bar between them.
local ORDER = {
    Interest = { "Name!", "MinSuffixComponents", "MaxSuffixComponents", PUBLISHER, "Exclude",
        "ChildSelector", "AnswerOriginKind", "Scope", "InterestLifetime", "Nonce", "FaceID" },
    Exclude = { "Any|Bloom|Component*" },
    ContentObject = { "Signature!", "Name!", "SignedInfo!", "Content!" },
    Signature = { "DigestAlgorithm", "Witness", "SignatureBits!" },
    SignedInfo = { "PublisherPublicKeyDigest!", "Timestamp!", "Type", "FreshnessSeconds", "FinalBlockID",
        "KeyLocator", "ExtOpt" },
    KeyLocator = { "Key|Certificate|KeyName!" },
    KeyName = { "Name!", PUBLISHER },
    Link = { "Name!", "Label", "LinkAuthenticator" },
    LinkAuthenticator = { PUBLISHER, "NameComponentCount", "Timestamp", "Type", "ContentDigest" },
    Header = { "Start!", "Count!", "BlockSize!", "Length!", "ContentDigest", "RootDigest" },
    FaceInstance = { "Action", "PublisherPublicKeyDigest", "FaceID", "IPProto", "Host", "Port",
        "MulticastInterface", "MulticastTTL", "FreshnessSeconds" },
    ForwardingEntry = { "Action", "Name!", "PublisherPublicKeyDigest", "FaceID", "ForwardingFlags",
        "FreshnessSeconds" },
    StrategySelection = { "Action", "Name", "PublisherPublicKeyDigest", "StrategyID", "StrategyParameters",
        "FreshnessSeconds" },
    StatusResponse = { "StatusCode!", "StatusText" },
    RepositoryInfo = { "Version!", "Type!", "RepositoryVersion!", "GlobalPrefixName", "LocalName", "Name*",
        "InfoString" },
    NdnlpData = { "NdnlpSequence!", "NdnlpFlags!", "NdnlpFragIndex", "NdnlpFragCount", "NdnlpPayload!" },
    NdnlpAck = { "NdnlpAckBlock!*" },
    NdnlpAckBlock = { "NdnlpSequenceBase!", "NdnlpBitmap!" },
    NdnldConnection = { "Action!", "FaceID", "NdnldLowerProtocol", "Host", "NdnldLocalInterface",
        "ForwardingFlags", "NdnldSentPktsCapacity", "NdnldRetransmitCount", "NdnldRetransmitTime",
        "NdnldAcknowledgeTime", "StatusCode" },
}

-- Elements that the Content of an object, or a component of a name, may be as a whole.
M.DOCUMENTS = {
    Collection = true, Header = true, Link = true, FaceInstance = true, ForwardingEntry = true,
    StrategySelection = true, StatusResponse = true, RepositoryInfo = true, Policy = true, SyncNode = true,
    SyncConfigSlice = true, SyncNodeDeltas = true, NdnldConnection = true, ContentObject = true,
    WrappedKey = true, KeyValueSet = true, ACL = true, Name = true,
}

local function places(words)
    local list = {}
    for _, word in ipairs(words) do
        local names, marks = string.match(word, "^([%a|]+)([!*]*)$")
        local place = { names = names, is_required = string.find(marks, "!", 1, true) ~= nil,
            may_repeat = string.find(marks, "*", 1, true) ~= nil, allowed = {} }
        for name in string.gmatch(names, "%a+") do
            place.allowed[name] = true
        end
        table.insert(list, place)
    end
    return list
end

local PLACES = {}
for name, words in pairs(ORDER) do
    PLACES[name] = places(words)
end

-- What the element of this number is, or nil.
function M.element(number)
    local row = number and M.ELEMENTS[number]
    if row then
        return { name = row[1], kind = row[2], low = row[3] or 0, high = row[4], limit = row[3] }
    end
end

function M.name_of(node)
    local row = node.tag and M.ELEMENTS[node.tag]
    return row and row[1] or node.name or (node.tag and "DTAG " .. string.format("%.0f", node.tag)) or nil
end

-- Tells `complain(node, text)` what stands where it must not in `node`, and what is missing.
function M.check_order(node, complain)
    local list = PLACES[M.name_of(node)]
    if not list then
        return
    end
    local at, used = 1, false
    for _, child in ipairs(node.children) do
        local name = M.name_of(child)
        local found
        for place = at, #list do
            if list[place].allowed[name] and (place > at or not used or list[place].may_repeat) then
                found = place
                break
            end
            if list[place].is_required and not (place == at and used) then
                break
            end
        end
        if not found then
            complain(child, (name or "a value") .. " in a place where it must not stand")
            return
        end
        at, used = found, true
    end
    for place = node.is_open and #list + 1 or used and at + 1 or at, #list do
        if list[place].is_required then
            complain(node, list[place].names .. " is missing")
            return
        end
    end
end

return M
