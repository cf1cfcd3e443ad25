-- Shows elements of NDN by a table of what may stand in them, and says what must not.
--
-- A row of such a table is `{ type, key, kind, … }`, in the order of the packet. `key` names the field,
-- `kind` what the element holds:
--   group    elements, by the table `of`
--   name     a name
--   number   a NonNegativeInteger; `words` says what its values mean, `unit` what it counts, `from` and `to`
--            the values that there are, `seconds` that it is a time in milliseconds since 1970
--   sequence eight bytes, shown in hex
--   bytes    bytes; `low` and `high` say how many
--   text     text
--   flag     nothing
--   component one component of a name
--   packet   a packet of its own, shown by `show`
-- `must` is for what has to be there, `again` for what may be repeated.

local ccnb = require("cairn-ccnb")
local tlv = require("cairn-tlv")
local uri = require("cairn-uri")

local M = {}

local SHOW = {}

local function length(element)
    return element.to - element.from + 1
end

-- Eight bytes of a time in milliseconds, or less, as Wireshark wants it.
local function milliseconds(bytes, from, to)
    local number = ccnb.number(bytes, from, to)
    local whole = math.floor(number / 1000)
    return NSTime.new(whole, math.floor(number - whole * 1000) * 1000000)
end

function SHOW.group(view, tree, element, row, found)
    local item = view:add(tree, row[2], element.at, element.to)
    found[row[2]] = true
    if item then
        M.show(view, item, element.from, element.to, row.of, found)
    end
end

-- The components of a name: pairs of a type and bytes. Says what is no component.
function M.components(view, tree, from, to)
    local components, digests = {}, 0
    local elements, problem = tlv.elements(view.bytes, from, to)
    for at, element in ipairs(elements) do
        components[at] = { element.kind, string.sub(view.bytes, element.from, element.to) }
        if element.kind > 65535 then
            view:complain(tree, "A component of a type that there is not")
        elseif (element.kind == 1 or element.kind == 2) and length(element) ~= 32 then
            view:complain(tree, "A digest of " .. length(element) .. " bytes")
        end
        digests = digests + (element.kind == 2 and 1 or 0)
    end
    if digests > 1 then
        view:complain(tree, "A name with more than one digest of parameters")
    end
    if problem then
        view:explain(tree, problem)
    end
    return components, elements
end

function SHOW.name(view, tree, element, row, found)
    local components, elements = M.components(view, tree, element.from, element.to)
    local text = uri.ndn(components)
    local item = view:add(tree, row[2], element.at, element.to, text)
    found[row[2]] = found[row[2]] or text
    found.components = found.components or components
    if not item then
        return
    end
    for at, part in ipairs(elements) do
        local shown = uri.ndn_component(components[at][1], components[at][2])
        if not view:add(item, "component", part.at, part.to, shown) then
            return
        end
    end
end

function SHOW.component(view, tree, element, row)
    local components = M.components(view, tree, element.from, element.to)
    if #components ~= 1 then
        view:complain(tree, row.title .. " of " .. #components .. " components")
    end
    local part = components[1]
    view:add(tree, row[2], element.at, element.to, part and uri.ndn_component(part[1], part[2]) or "")
end

local WIDTHS = { [1] = true, [2] = true, [4] = true, [8] = true }

function SHOW.number(view, tree, element, row, found)
    if not WIDTHS[length(element)] then
        view:complain(tree, row.title .. " is no number: it has " .. length(element) .. " bytes")
        return
    end
    local bytes = string.sub(view.bytes, element.from, element.to)
    local digits = uri.decimal(bytes)
    local number = tonumber(digits)
    found[row[2]] = number
    local value
    if row.seconds then
        value = milliseconds(view.bytes, element.from, element.to)
    end
    local item = view:add(tree, row[2], element.from, element.to, value)
    if item and row.words then
        item:append_text(" (" .. (row.words[number] or "unknown") .. ")")
    elseif item and row.unit then
        item:append_text(" " .. row.unit)
    end
    if row.low and number < row.low or row.high and number > row.high then
        view:complain(tree, row.title .. " must not be " .. digits)
    end
end

local function is_sized(view, tree, element, row)
    local size = length(element)
    if row.low and size < row.low or row.high and size > row.high then
        view:complain(tree, row.title .. " of " .. size .. " bytes")
        return false
    end
    return true
end

function SHOW.bytes(view, tree, element, row, found)
    is_sized(view, tree, element, row)
    found[row[2]] = element
    local item = view:add(tree, row[2], element.from, element.to)
    if item and element.to < element.from then
        item:set_text(row.title .. ": empty")
    end
end

function SHOW.sequence(view, tree, element, row, found)
    if is_sized(view, tree, element, { title = row.title, low = 8, high = 8 }) then
        local hex = uri.hex(string.sub(view.bytes, element.from, element.to))
        view:add(tree, row[2], element.from, element.to, hex)
        found[row[2]] = hex
        if row.again then
            found.all = found.all or {}
            table.insert(found.all, { hex = hex, at = element.from, to = element.to })
        end
    end
end

function SHOW.text(view, tree, element, row)
    view:add(tree, row[2], element.from, element.to, view:text(element.from, element.to))
end

function SHOW.flag(view, tree, element, row, found)
    if length(element) > 0 then
        view:complain(tree, row.title .. " that holds something")
    end
    view:add(tree, row[2], element.at, element.to)
    found[row[2]] = true
end

function SHOW.packet(view, tree, element, row)
    local item = view:add(tree, row[2], element.from, element.to)
    if item then
        view:nested(function()
            row.show(view, item, element.from, element.to)
        end)
    end
end

-- Network packets may hold unknown elements of even types above 31.
local function is_ignorable(kind)
    return kind > 31 and kind % 2 == 0
end

-- The row for an element, looked for behind the last one, and where the next may stand. Where there is none:
-- whether the table has one elsewhere.
local function row_of(rows, kind, at)
    local is_known = false
    for place, row in ipairs(rows) do
        if row[1] == kind and place >= at then
            return row, row.again and place or place + 1
        end
        is_known = is_known or row[1] == kind
    end
    return nil, is_known
end

-- Whether an element without a row is passed over. Before what must come first nothing is; a table that is
-- `strict` has no place for what it knows elsewhere, and none behind its last row.
local function is_passed_over(rows, kind, at, is_known)
    local is_before_first = rows[1].must and at == 1
    local is_wrong = rows.strict and (is_known or at > #rows)
    return not is_before_first and not is_wrong and (rows.is_ignorable or is_ignorable)(kind)
end

-- Shows the elements that fill from..to by the table `rows`. Puts what it read into `found`, by keys.
function M.show(view, tree, from, to, rows, found)
    local elements, problem = tlv.elements(view.bytes, from, to)
    local at, seen = 1, {}
    for _, element in ipairs(elements) do
        local row, next_at = row_of(rows, element.kind, at)
        if row then
            at = next_at
            seen[row[1]] = true
            SHOW[row[3]](view, tree, element, row, found)
        elseif is_passed_over(rows, element.kind, at, next_at) then
            view:add(tree, "unknown", element.at, element.to)
        else
            view:complain(tree, string.format("An element of type %.0f in a place where it must not stand",
                element.kind))
        end
        if view.budget.left <= 0 then
            return
        end
    end
    if problem then
        view:explain(tree, problem)
    end
    for _, row in ipairs(rows) do
        if row.must and not seen[row[1]] and not problem and not view.is_cut then
            view:complain(tree, row.title .. " is missing")
        end
    end
end

-- Fills in the titles of rows from the fields of the protocol.
function M.entitle(rows, fields)
    for _, row in ipairs(rows) do
        row.title = fields[row[2]][1]
        if row.of and not row.of.is_entitled then
            row.of.is_entitled = true
            M.entitle(row.of, fields)
        end
    end
end

return M
