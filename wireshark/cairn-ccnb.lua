-- ccnb, the binary blocks of which CCNx 0.8 and NDNLP version 1 are made: from bytes to a tree of nodes.
--
-- Nothing here knows Wireshark. A block begins with a number of seven bits a byte and a type of three bits;
-- elements end with a zero byte. There are no lengths of elements, so that where a message ends is known
-- only when it has been read: `parse` is what finds messages in streams, too.

local M = {}

-- No message of CCNx nests deeper than 7; Cairn's decoder refuses what nests deeper than this.
M.MAX_DEPTH = 32
-- Blocks of one message. The longest names of real messages have some dozens.
M.MAX_BLOCKS = 20000
-- Bytes of one message: what a receiver of NDNLP puts together at most.
M.MAX_BYTES = 1048576
-- Numbers are doubles in Lua 5.2; above this they would not be exact. No real one comes near.
local MAX_NUMBER = 2 ^ 48
local MAX_HEADER = 8

local EXT, TAG, DTAG, ATTR, DATTR, BLOB, UDATA = 0, 1, 2, 3, 4, 5, 6

local function malformed(at, text)
    return { at = at, text = text }
end

-- The number and the type of the block at `at`, and where its content begins; or a problem.
local function header(bytes, at, last)
    local number = 0
    for place = at, math.min(last, at + MAX_HEADER - 1) do
        local octet = string.byte(bytes, place)
        if octet >= 128 then
            number = number * 16 + math.floor((octet - 128) / 8)
            if number > MAX_NUMBER then
                return nil, malformed(at, "a number of ccnb that is too large")
            end
            return number, octet % 8, place + 1
        end
        number = number * 128 + octet
    end
    if last >= at + MAX_HEADER - 1 then
        return nil, malformed(at, "a block of ccnb whose header does not end")
    end
    return nil, { at = last + 1, missing = 1 }
end

-- What is being read: the elements that are open, and how many blocks have been.
local function reader(bytes, at, last)
    return { bytes = bytes, at = at, last = last, open = {}, blocks = 0 }
end

local function add(state, node)
    local parent = state.open[#state.open]
    if parent then
        table.insert(parent.children, node)
    end
end

local function open_element(state, node)
    if #state.open >= M.MAX_DEPTH then
        return malformed(node.at, "elements nested deeper than " .. M.MAX_DEPTH)
    end
    add(state, node)
    table.insert(state.open, node)
    state.root = state.root or node
end

-- A block of `length` bytes from `from` on, which must be there.
local function take(state, at, from, length)
    if length > M.MAX_BYTES then
        return malformed(at, "a block of ccnb of more than " .. M.MAX_BYTES .. " bytes")
    end
    local missing = from + length - 1 - state.last
    if missing > 0 then
        return { at = state.last + 1, missing = missing }
    end
    state.at = from + length
end

local READ = {}

READ[DTAG] = function(state, at, number, from)
    state.at = from
    return open_element(state, { tag = number, at = at, children = {} })
end

READ[TAG] = function(state, at, number, from)
    local problem = take(state, at, from, number + 1)
    if problem then
        return problem
    end
    local name = string.sub(state.bytes, from, from + number)
    return open_element(state, { name = name, at = at, children = {} })
end

local function value(kind)
    return function(state, at, number, from)
        if number == 0 then
            return malformed(at, "a value of no bytes, which has to be left out")
        end
        local problem = take(state, at, from, number)
        if problem then
            return problem
        end
        add(state, { kind = kind, at = at, from = from, to = from + number - 1, stop = from + number - 1 })
    end
end

READ[BLOB] = value("blob")
READ[UDATA] = value("text")

-- The protocol has no attributes and no extensions; they are passed over, their values being blocks.
READ[ATTR] = function(state, at, number, from)
    local problem = take(state, at, from, number + 1)
    if not problem then
        add(state, { kind = "attribute", at = at, stop = from + number })
    end
    return problem
end

READ[DATTR] = function(state, at, _, from)
    state.at = from
    add(state, { kind = "attribute", at = at, stop = from - 1 })
end

READ[EXT] = function(state, at, _, from)
    state.at = from
    add(state, { kind = "extension", at = at, stop = from - 1 })
end

local function close(state)
    local node = table.remove(state.open)
    if not node then
        return malformed(state.at, "the end of an element where none is open")
    end
    node.stop = state.at
    state.at = state.at + 1
end

local function step(state)
    if state.at > state.last then
        return { at = state.at, missing = 1 }
    end
    state.blocks = state.blocks + 1
    if state.blocks > M.MAX_BLOCKS then
        return malformed(state.at, "more than " .. M.MAX_BLOCKS .. " blocks in a message")
    end
    if string.byte(state.bytes, state.at) == 0 then
        return close(state)
    end
    local number, kind, from = header(state.bytes, state.at, state.last)
    if not number then
        return kind
    end
    local read = READ[kind]
    if not read then
        return malformed(state.at, "a block of ccnb of unknown type " .. kind)
    elseif #state.open == 0 and kind ~= DTAG and kind ~= TAG then
        return malformed(state.at, "a value outside of any element")
    end
    return read(state, state.at, number, from)
end

-- Reads the element that begins at `at`, counted from 1, and ends at `last` at the latest.
--
-- Gives its node and a problem, if there is one. A problem has `at`, and either `text`, what is wrong, or
-- `missing`, how many more bytes are needed at least. With a problem the node holds what came before it, or
-- is nil. Nodes of elements have `tag` (or `name`), `at`, `stop` (the last byte), `children`, and
-- `is_open` if they do not end; those of values `kind` ("blob" or "text"), `from` and `to`.
function M.parse(bytes, at, last)
    local state = reader(bytes, at, last)
    local problem
    repeat
        problem = step(state)
        if not problem and state.at - at > M.MAX_BYTES then
            problem = malformed(state.at, "a message of more than " .. M.MAX_BYTES .. " bytes")
        end
    until problem or #state.open == 0
    for _, node in ipairs(state.open) do
        node.is_open = true
        node.stop = math.min(problem.at, last)
    end
    return state.root, problem
end

-- The value of an element that has exactly one, or nil.
function M.value_of(node)
    local child = node.children[1]
    if #node.children == 1 and child.from then
        return child
    end
end

-- A number in big-endian order, exact below 2^53. Reckoned with as a double, for whole numbers wrap in newer
-- versions of Lua.
function M.number(bytes, from, to)
    local number = 0.0
    for at = from, to do
        number = number * 256 + string.byte(bytes, at)
    end
    return number < 2 ^ 53 and math.floor(number) or number
end

return M
