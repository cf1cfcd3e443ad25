-- What the elements of CCNx hold, shown: numbers, times, names and their conventions, filters, signatures.

local ccnb = require("cairn-ccnb")
local dictionary = require("cairn-dictionary")
local uri = require("cairn-uri")

local M = {}

-- `AnswerOriginKind=3`: where an answer may come from.
local ORIGINS = { { 1, "content store" }, { 2, "generated" }, { 4, "stale" }, { 16, "mark stale" } }
local FORWARDING = { { 1, "ACTIVE" }, { 2, "CHILD_INHERIT" }, { 4, "ADVERTISE" }, { 8, "LAST" },
    { 16, "CAPTURE" }, { 32, "LOCAL" }, { 64, "TAP" }, { 128, "CAPTURE_OK" } }
-- The three bytes are six letters of base 64 without their padding.
local TYPES = { ["0c04c0"] = "DATA", ["10d091"] = "ENCR", ["18e344"] = "GONE", ["28463f"] = "KEY",
    ["2c834a"] = "LINK", ["34008a"] = "NACK" }
-- Fields of the conventions of names. A number is shown as such, a version as a time.
local MARKERS = { segment = "segment", offset = "byte_offset", version = "name_version", command = "command" }

-- The words for the bits of `number`.
local function bits(number, words)
    local found = {}
    for _, row in ipairs(words) do
        if math.floor(number / row[1]) % 2 == 1 then
            table.insert(found, row[2])
        end
    end
    return #found > 0 and table.concat(found, ", ") or "none"
end

-- A number below 2^64 for a field of 64 bits.
local function wide(number)
    return UInt64.new(number % 4294967296, math.floor(number / 4294967296))
end

local function seconds(number)
    local whole = math.floor(number)
    return NSTime.new(whole, math.floor((number - whole) * 1e9 + 0.5))
end

-- The field of an element: its name in small letters with underscores.
function M.abbreviation(name)
    local words = string.gsub(name, "(%u+)(%u%l)", "%1_%2")
    words = string.gsub(words, "(%l)(%u)", "%1_%2")
    return string.lower(words)
end

local function marker(view, item, from, to)
    local kind, value = uri.marker(string.sub(view.bytes, from, to))
    if kind == "version" then
        view:add(item, MARKERS[kind], from, to, seconds(value))
    elseif kind == "command" then
        view:add(item, MARKERS[kind], from, to, value)
    elseif kind then
        view:add(item, MARKERS[kind], from, to, wide(value))
    end
end

local SHOW = {}

function SHOW.decimal(view, item_of, value, element, complain)
    local text = string.sub(view.bytes, value.from, value.to)
    if value.kind ~= "text" or not string.find(text, "^%d+$") or #text > 15 then
        complain(element.name .. " is no decimal number")
        return
    end
    local number = tonumber(text)
    local item = item_of(wide(number))
    if element.limit and number > element.limit then
        complain(element.name .. " is larger than " .. element.limit)
    end
    if item and element.name == "AnswerOriginKind" then
        item:append_text(" (" .. bits(number, ORIGINS) .. ")")
    elseif item and element.name == "ChildSelector" then
        item:append_text(number % 2 == 0 and " (leftmost)" or " (rightmost)")
    end
end

function SHOW.text(view, item_of, value, element, complain)
    if value.kind ~= "text" then
        complain(element.name .. " is no text")
    end
    item_of(view:text(value.from, value.to))
end

function SHOW.any(view, item_of, value)
    if value.kind == "text" then
        item_of(view:text(value.from, value.to))
    else
        item_of("0x" .. uri.hex(string.sub(view.bytes, value.from, math.min(value.to, value.from + 255))))
    end
end

-- Says what is wrong with a BLOB: what it is, and how long.
local function is_blob(value, element, complain)
    local length = value.to - value.from + 1
    if value.kind ~= "blob" then
        complain(element.name .. " is a text")
    elseif length < element.low or element.high and length > element.high then
        complain(element.name .. " of " .. length .. " bytes")
    else
        return true
    end
end

function SHOW.blob(view, item_of, value, element, complain)
    is_blob(value, element, complain)
    local item = item_of(nil)
    if item and element.name == "FinalBlockID" then
        marker(view, item, value.from, value.to)
    elseif item and element.name == "Bloom" then
        M.bloom(view, item, value)
    elseif item and element.name == "Witness" then
        M.witness(view, item, value)
    end
end

function SHOW.number(view, item_of, value, element, complain)
    if is_blob(value, element, complain) then
        item_of(view:uint64(value.from, value.to))
    end
end

function SHOW.time(view, item_of, value, element, complain)
    if is_blob(value, element, complain) then
        item_of(seconds(ccnb.number(view.bytes, value.from, value.to) / 4096))
    end
end

SHOW.lifetime = SHOW.time

function SHOW.type(view, item_of, value, _, complain)
    if value.kind == "text" then
        item_of(view:text(value.from, value.to))
        return
    end
    if value.to - value.from ~= 2 then
        complain("A type of other than three bytes")
    end
    local hex = uri.hex(string.sub(view.bytes, value.from, math.min(value.to, value.from + 15)))
    item_of(TYPES[hex] or hex)
end

-- Flags of ccnd are digits; those of ndnld two bytes, of which the highest bit asks for acknowledgements.
function SHOW.flags(view, item_of, value, _, complain)
    local text = string.sub(view.bytes, value.from, value.to)
    if value.kind == "blob" and #text == 2 then
        local number = ccnb.number(view.bytes, value.from, value.to)
        item_of(string.format("%04x (%s)", number, number >= 32768 and "RLA" or "none"))
    elseif value.kind == "text" and #text <= 9 and string.find(text, "^%d+$") then
        item_of(text .. " (" .. bits(tonumber(text), FORWARDING) .. ")")
    else
        complain("Flags that are neither a number nor two bytes")
    end
end

-- Shows the value of an element. `item_of(value)` makes its item, nil for bytes as they are.
function M.show(view, node, element, item_of, complain)
    local value = ccnb.value_of(node)
    if value then
        SHOW[element.kind](view, item_of, value, element, complain)
        return
    end
    local is_empty = #node.children == 0
    if is_empty and (element.kind == "text" or element.kind == "any") then
        item_of("")
    elseif not is_empty or element.kind ~= "blob" or element.low > 0 then
        complain(element.name .. (is_empty and " is empty" or " holds more than one value"))
    end
end

-- The components of a name, as bytes, and what is wrong with it.
function M.components(view, node)
    local components, wrong = {}, nil
    for at, child in ipairs(node.children) do
        local value = child.children and ccnb.value_of(child)
        if dictionary.name_of(child) ~= "Component" or #child.children > 0 and not value then
            wrong = "A name of other than components"
        elseif value and value.kind ~= "blob" then
            wrong = "A component that is a text"
        end
        components[at] = value and string.sub(view.bytes, value.from, value.to) or ""
    end
    return components, wrong
end

-- One component: its text, and what the conventions say of it.
function M.component(view, tree, node, complain)
    local value = ccnb.value_of(node)
    local bytes = value and string.sub(view.bytes, value.from, value.to) or ""
    if not value and #node.children > 0 then
        complain("A component that holds more than bytes")
    end
    local item = view:add(tree, "component", node.at, node.stop, uri.ccnx_component(bytes))
    if item and value then
        marker(view, item, value.from, value.to)
        return item, value
    end
end

-- A filter of Bloom's: eight bytes of what it is made by, then its bits.
function M.bloom(view, tree, value)
    if value.to - value.from + 1 < 9 then
        view:complain(tree, "A filter of less than nine bytes")
        return
    end
    view:add(tree, "bloom.lg_bits", value.from, value.from)
    view:add(tree, "bloom.hashes", value.from + 1, value.from + 1)
    view:add(tree, "bloom.method", value.from + 2, value.from + 2)
    view:add(tree, "bloom.seed", value.from + 4, value.from + 7)
    view:add(tree, "bloom.bits", value.from + 8, value.to)
end

-- The tag and the content of what stands at `at` in DER, up to lengths of three bytes.
local function der(bytes, at, to)
    local tag, length = string.byte(bytes, at, at + 1)
    if not length then
        return nil
    end
    local from = at + 2
    if length >= 128 then
        local more = length - 128
        if more < 1 or more > 3 or from + more - 1 > to then
            return nil
        end
        length = ccnb.number(bytes, from, from + more - 1)
        from = from + more
    end
    if from + length - 1 > to then
        return nil
    end
    return tag, from, from + length - 1
end

local SEQUENCE, INTEGER, OCTETS = 0x30, 0x02, 0x04

-- What of a digest's place in a tree is needed to verify it: DigestInfo, in it a MerklePath of the leaf's
-- number and the digests on the way to the root.
function M.witness(view, tree, value)
    local at, to = value.from, value.to
    local function into(wanted)
        local tag, from, stop = der(view.bytes, at, to)
        if tag ~= wanted then
            return nil
        end
        at, to = from, stop
        return true
    end
    local function over(wanted)
        local tag, from, stop = der(view.bytes, at, to)
        if tag ~= wanted then
            return nil
        end
        at = stop + 1
        return from, stop
    end
    if not (into(SEQUENCE) and over(SEQUENCE) and into(OCTETS) and into(SEQUENCE)) then
        return
    end
    local from, stop = over(INTEGER)
    if from and stop >= from and stop - from < 6 then
        view:add(tree, "witness.node", from, stop, wide(ccnb.number(view.bytes, from, stop)))
    end
    if not into(SEQUENCE) then
        return
    end
    for _ = 1, 64 do
        from, stop = over(OCTETS)
        if not from or stop < from then
            return
        end
        view:add(tree, "witness.hash", from, stop)
    end
end

return M
