-- What is shown of a packet: items of Wireshark's tree, within a budget, and complaints.
--
-- Bytes are counted from 1 here, as Lua does; Wireshark counts them from 0.

local uri = require("cairn-uri")

local M = {}

-- Items of one packet. A hostile one could have a hundred thousand, and Wireshark gives up at a million.
M.MAX_ITEMS = 10000
-- Packets within packets: a signed object in a component of a name, a command in the content of an object.
M.MAX_NESTED = 4

local View = {}
View.__index = View

-- Fields and complaints of a protocol: `names` has an abbreviation for each field, and what `ProtoField.new`
-- wants behind it.
function M.define(protocol, prefix, names)
    local fields = {}
    for key, row in pairs(names) do
        fields[key] = ProtoField.new(row[1], prefix .. "." .. key, row[2], row[3], row[4])
    end
    protocol.fields = fields
    local group, severity = expert.group, expert.severity
    local experts = {
        malformed = ProtoExpert.new(prefix .. ".malformed", "Malformed", group.MALFORMED, severity.ERROR),
        limit = ProtoExpert.new(prefix .. ".limit", "Not everything is shown", group.UNDECODED,
            severity.WARN),
        cut = ProtoExpert.new(prefix .. ".cut", "The capture holds only the beginning", group.UNDECODED,
            severity.NOTE),
        again = ProtoExpert.new(prefix .. ".retransmission", "Sent again", group.SEQUENCE, severity.NOTE),
    }
    protocol.experts = experts
    return { protocol = protocol, fields = fields, experts = experts }
end

-- A view of the bytes of `tvb` with the fields of `definition`.
function M.new(definition, tvb, pinfo)
    local view = setmetatable({}, View)
    view.definition, view.tvb, view.pinfo = definition, tvb, pinfo
    view.bytes = tvb:len() > 0 and tvb:raw() or ""
    view.is_cut = tvb:reported_len() > tvb:len()
    view.budget = { left = M.MAX_ITEMS, nested = 0 }
    return view
end

-- The same bytes and the same budget with the fields of another protocol.
function View:as(definition)
    return setmetatable({ definition = definition }, { __index = self })
end

function View:range(from, to)
    return self.tvb(from - 1, math.max(0, to - from + 1))
end

-- Whether one more item may be shown. Says it once that none may.
function View:may_show(tree)
    self.budget.left = self.budget.left - 1
    if self.budget.left == 0 then
        tree:add_proto_expert_info(self.definition.experts.limit, "More than " .. M.MAX_ITEMS
            .. " elements: the rest is not shown")
    end
    return self.budget.left > 0
end

-- Adds the field `key` for the bytes from..to; without `value` Wireshark reads it from them.
function View:add(tree, key, from, to, value)
    if not self:may_show(tree) then
        return nil
    end
    local field = self.definition.fields[key]
    if value == nil then
        return tree:add(field, self:range(from, to))
    end
    return tree:add(field, self:range(from, to), value)
end

-- A line of words for the bytes from..to.
function View:say(tree, from, to, text)
    if not self:may_show(tree) then
        return nil
    end
    return tree:add(self:range(from, to), text)
end

-- A field that is in no byte of the packet.
function View:note(tree, key, value)
    if not self:may_show(tree) then
        return nil
    end
    local item = tree:add(self.definition.fields[key], self.tvb(0, 0), value)
    item:set_generated()
    return item
end

function View:complain(tree, text)
    tree:add_proto_expert_info(self.definition.experts.malformed, text)
end

-- Says what `problem` of a parser is: the end of what was captured is no fault of the sender.
function View:explain(tree, problem)
    if problem.missing and self.is_cut then
        tree:add_proto_expert_info(self.definition.experts.cut, "The capture holds only the beginning")
    else
        local text = problem.text or "The packet ends within an element"
        self:complain(tree, text .. ", at byte " .. problem.at - 1)
    end
end

-- Runs `work` if packets are not nested too deep.
function View:nested(work)
    if self.budget.nested < M.MAX_NESTED then
        self.budget.nested = self.budget.nested + 1
        work()
        self.budget.nested = self.budget.nested - 1
    end
end

-- Bytes from..to as a number of Wireshark's, up to eight of them.
function View:uint64(from, to)
    return self:range(from, to):uint64()
end

-- The bytes from..to as text on one line.
function View:text(from, to)
    return uri.printable(string.sub(self.bytes, from, to))
end

-- Puts what a frame holds into its columns. A segment of TCP is handed over in parts, the end of what began
-- before it and the rest: what the first has put there stays.
function M.summarise(pinfo, protocol, texts)
    if #texts == 0 then
        return
    end
    pinfo.cols.protocol:set(protocol)
    local shown = table.concat(texts, "  ", 1, math.min(#texts, 20))
    if #texts > 20 then
        shown = shown .. "  and " .. #texts - 20 .. " more"
    end
    if pinfo.private["cairn"] then
        pinfo.cols.info:append("  " .. shown)
    else
        pinfo.cols.info:set(shown)
    end
    pinfo.cols.info:fence()
    pinfo.private["cairn"] = "shown"
end

return M
