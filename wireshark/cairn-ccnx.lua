-- CCNx 0.8: Interests, ContentObjects and what else ccnd and its clients send, as trees and as a line.

local ccnb = require("cairn-ccnb")
local dictionary = require("cairn-dictionary")
local uri = require("cairn-uri")
local values = require("cairn-ccnx-values")
local view = require("cairn-view")

local M = {}

-- Messages of one datagram that are shown.
local MAX_MESSAGES = 1000

local TYPES = {
    group = { ftypes.NONE }, content = { ftypes.BYTES }, name = { ftypes.STRING },
    component = { ftypes.STRING }, blob = { ftypes.BYTES }, number = { ftypes.UINT64, nil, base.DEC },
    decimal = { ftypes.UINT64, nil, base.DEC }, text = { ftypes.STRING }, any = { ftypes.STRING },
    time = { ftypes.ABSOLUTE_TIME, nil, base.UTC }, lifetime = { ftypes.RELATIVE_TIME },
    type = { ftypes.STRING }, flags = { ftypes.STRING },
}

local function fields()
    local names = {
        segment = { "Segment", ftypes.UINT64, nil, base.DEC },
        byte_offset = { "Byte offset", ftypes.UINT64, nil, base.DEC },
        name_version = { "Version", ftypes.ABSOLUTE_TIME, nil, base.UTC },
        command = { "Command", ftypes.STRING },
        ["bloom.lg_bits"] = { "Logarithm of the bits", ftypes.UINT8, nil, base.DEC },
        ["bloom.hashes"] = { "Hashes", ftypes.UINT8, nil, base.DEC },
        ["bloom.method"] = { "Method", ftypes.UINT8, nil, base.HEX },
        ["bloom.seed"] = { "Seed", ftypes.UINT32, nil, base.HEX },
        ["bloom.bits"] = { "Bits", ftypes.BYTES },
        ["witness.node"] = { "Node of the tree", ftypes.UINT64, nil, base.DEC },
        ["witness.hash"] = { "Digest on the way", ftypes.BYTES },
    }
    for _, row in pairs(dictionary.ELEMENTS) do
        local kind = TYPES[row[2]]
        names[values.abbreviation(row[1])] = { row[1], kind[1], kind[2], kind[3] }
    end
    return names
end

local definition
local show

-- Shows the elements in `node`, in their order.
local function show_children(seen, tree, node)
    for _, child in ipairs(node.children) do
        if seen.budget.left <= 0 then
            return
        elseif child.children then
            show(seen, tree, child)
        else
            seen:say(tree, child.at, child.stop, (child.kind or "value") .. " in an element of elements")
        end
    end
end

-- If what stands in from..to is a document of CCNx, it is shown, too.
local function show_document(seen, tree, from, to)
    if to - from < 1 or string.byte(seen.bytes, from) == 0 then
        return nil
    end
    local node, problem = ccnb.parse(seen.bytes, from, to)
    local name = node and not problem and node.stop == to and dictionary.name_of(node)
    if name and dictionary.DOCUMENTS[name] then
        seen:nested(function()
            show(seen, tree, node)
        end)
    end
end

local function show_name(seen, tree, node, key)
    local components, wrong = values.components(seen, node)
    local item = seen:add(tree, key, node.at, node.stop, uri.ccnx(components))
    if not item then
        return
    end
    if wrong then
        seen:complain(item, wrong)
    end
    for _, child in ipairs(node.children) do
        if dictionary.name_of(child) == "Component" then
            local part, value = values.component(seen, item, child, function(text)
                seen:complain(item, text)
            end)
            if part then
                show_document(seen, part, value.from, value.to)
            end
        end
    end
end

local function show_content(seen, tree, node, key)
    local value = ccnb.value_of(node)
    if not value then
        local item = seen:add(tree, key, node.stop, node.stop - 1)
        if item then
            item:set_text("Content: empty")
        end
        if #node.children > 0 then
            seen:complain(tree, "Content holds more than one value")
        end
        return
    end
    local item = seen:add(tree, key, value.from, value.to)
    if item then
        show_document(seen, item, value.from, value.to)
    end
end

-- Components of a filter ascend, shorter ones first, and there is one filler between two of them.
local function check_exclude(seen, item, node)
    local before, was_filler
    for _, child in ipairs(node.children) do
        local is_component = dictionary.name_of(child) == "Component"
        if not is_component and was_filler then
            seen:complain(item, "Exclude with two fillers in a row")
        elseif is_component then
            local value = ccnb.value_of(child)
            local bytes = value and string.sub(seen.bytes, value.from, value.to) or ""
            if before and (#bytes < #before or #bytes == #before and bytes <= before) then
                seen:complain(item, "Exclude whose components do not ascend")
            end
            before = bytes
        end
        was_filler = not is_component
    end
end

-- AnswerOriginKind 16 marks what is stored as stale: only this host may ask for it, with a scope of 0.
local function check_marking(seen, item, node)
    local numbers = {}
    for _, child in ipairs(node.children) do
        local value = child.children and ccnb.value_of(child)
        if value and value.kind == "text" then
            numbers[dictionary.name_of(child)] = tonumber(string.sub(seen.bytes, value.from, value.to))
        end
    end
    local least, most = numbers.MinSuffixComponents, numbers.MaxSuffixComponents
    if math.floor((numbers.AnswerOriginKind or 0) / 16) % 2 == 1 and numbers.Scope ~= 0 then
        seen:complain(item, "AnswerOriginKind 16 without Scope 0")
    elseif least and most and most < least then
        seen:complain(item, "MaxSuffixComponents below MinSuffixComponents")
    end
end

-- The digest of the one who signed has 32 bytes; those of an Interest may have others.
local function check_publisher(seen, item, node)
    local value = node.children[1] and node.children[1].children and ccnb.value_of(node.children[1])
    if value and value.to - value.from + 1 ~= 32 then
        seen:complain(item, "PublisherPublicKeyDigest of other than 32 bytes")
    end
end

local CHECKS = { Exclude = check_exclude, Interest = check_marking, SignedInfo = check_publisher }

local function show_group(seen, tree, node, element, key)
    local item = key and seen:add(tree, key, node.at, node.stop)
        or seen:say(tree, node.at, node.stop, dictionary.name_of(node))
    if not item then
        return
    end
    dictionary.check_order(node, function(_, text)
        seen:complain(item, text)
    end)
    if element and CHECKS[element.name] and not node.is_open then
        CHECKS[element.name](seen, item, node)
    end
    show_children(seen, item, node)
end

-- Shows one element and all that is in it.
function show(seen, tree, node)
    local element = dictionary.element(node.tag)
    local key = element and values.abbreviation(element.name)
    if node.is_open and #node.children == 0 then
        -- What it would hold is not in the packet, and that is said where the packet ends.
        seen:say(tree, node.at, node.stop, dictionary.name_of(node))
    elseif not element or element.kind == "group" then
        show_group(seen, tree, node, element, key)
    elseif element.kind == "name" then
        show_name(seen, tree, node, key)
    elseif element.kind == "content" then
        show_content(seen, tree, node, key)
    elseif element.kind == "component" then
        values.component(seen, tree, node, function(text)
            seen:complain(tree, text)
        end)
    else
        local is_bytes = element.kind == "blob"
        values.show(seen, node, element, function(value)
            local from, to = node.at, node.stop
            if is_bytes then
                from, to = node.children[1].from, node.children[1].to
            end
            return seen:add(tree, key, from, to, value)
        end, function(text)
            seen:complain(tree, text)
        end)
    end
end

-- What a message is, in one line.
local function summary(seen, node)
    local name = dictionary.name_of(node)
    if name == "CCNProtocolDataUnit" then
        local inner = {}
        for at = 1, math.min(#node.children, 20) do
            inner[at] = node.children[at].children and summary(seen, node.children[at]) or "value"
        end
        return "PDU [" .. table.concat(inner, "  ") .. "]"
    elseif name == "SequenceNumber" then
        local value = ccnb.value_of(node)
        local number = value and uri.decimal(string.sub(seen.bytes, value.from, math.min(value.to, value.from + 7)))
        return "SequenceNumber " .. (number or "without value")
    end
    for _, child in ipairs(node.children) do
        if dictionary.name_of(child) == "Name" then
            return name .. " " .. uri.ccnx((values.components(seen, child)))
        end
    end
    return name
end

-- Shows the messages in from..to of a view of any protocol. Gives their summaries.
function M.show_messages(outer, tree, from, to)
    local seen = outer:as(definition)
    local item = tree:add(definition.protocol, seen:range(from, to))
    local summaries, at = {}, from
    while at <= to do
        if #summaries == MAX_MESSAGES then
            item:add_proto_expert_info(definition.experts.limit, "More than " .. MAX_MESSAGES
                .. " messages: the rest is not shown")
            break
        end
        local node, problem = ccnb.parse(seen.bytes, at, to)
        if node then
            show(seen, item, node)
            table.insert(summaries, summary(seen, node) .. (problem and " [broken]" or ""))
        end
        if problem then
            seen:explain(item, problem)
            if not node then
                table.insert(summaries, "[broken]")
            end
            break
        end
        at = node.stop + 1
    end
    return summaries
end

-- A datagram or a frame: messages one after the other, or a single byte that says that somebody is there.
function M.dissect(tvb, pinfo, tree)
    if tvb:len() <= 1 then
        tree:add(definition.protocol, tvb(), "CCNx, heartbeat")
        view.summarise(pinfo, "CCNx", { "Heartbeat" })
        return tvb:len()
    end
    local seen = view.new(definition, tvb, pinfo)
    view.summarise(pinfo, "CCNx", M.show_messages(seen, tree, 1, #seen.bytes))
    return tvb:len()
end

function M.register()
    local protocol = Proto("ccnx", "CCNx 0.8")
    definition = view.define(protocol, "ccnx", fields())
    protocol.dissector = M.dissect
    M.protocol = protocol
end

return M
