-- Names as URIs, for both dialects, and what the conventions say about a component.
--
-- Nothing here knows Wireshark. Components are strings of bytes.

local M = {}

-- Requests of CCNx are signed objects in a component of a name. Those of more bytes than this are named by
-- their size: the tree below the name shows what is in them.
local LONG_OBJECT = 100

local function escape(octet)
    return string.format("%%%02X", string.byte(octet))
end

-- Bytes that stand for themselves are those of RFC 3986 that are not reserved.
local function escaped(component)
    if string.find(component, "^%.*$") then
        return component .. "..."
    end
    return (string.gsub(component, "[^%w%-%._~]", escape))
end

local function shortened(component)
    if #component > LONG_OBJECT and string.sub(component, 1, 2) == "\4\130" then
        return "(" .. #component .. " bytes)"
    end
    return escaped(component)
end

local function hex(bytes)
    return (string.gsub(bytes, ".", function(octet)
        return string.format("%02x", string.byte(octet))
    end))
end
M.hex = hex

-- A big-endian number of any length in decimal digits.
function M.decimal(bytes)
    local limbs = { 0 }
    for at = 1, #bytes do
        local carry = string.byte(bytes, at)
        for place = 1, #limbs do
            local sum = limbs[place] * 256 + carry
            limbs[place] = sum % 1e7
            carry = math.floor(sum / 1e7)
        end
        if carry > 0 then
            table.insert(limbs, carry)
        end
    end
    local digits = { string.format("%.0f", limbs[#limbs]) }
    for place = #limbs - 1, 1, -1 do
        table.insert(digits, string.format("%07.0f", limbs[place]))
    end
    return table.concat(digits)
end

-- A text that may hold anything, as one line of ASCII.
function M.printable(bytes)
    return (string.gsub(bytes, "[^\32-\126]", function(octet)
        return string.format("\\x%02x", string.byte(octet))
    end))
end

-- A name of CCNx.
function M.ccnx(components)
    if #components == 0 then
        return "ccnx:/"
    end
    local parts = {}
    for at, component in ipairs(components) do
        parts[at] = shortened(component)
    end
    return "ccnx:/" .. table.concat(parts, "/")
end

M.ccnx_component = shortened

-- Types of components of NDN that have a form of their own. The value of those with a number is one of 1, 2,
-- 4 or 8 bytes, as short as it can be.
local DIGESTS = { [1] = "sha256digest", [2] = "params-sha256" }
local NUMBERS = { [50] = "seg", [52] = "off", [54] = "v", [56] = "t", [58] = "seq" }

local function is_shortest(value)
    local half = ({ [2] = 1, [4] = 2, [8] = 4 })[#value]
    return #value == 1 or half ~= nil and #string.match(value, "^%z*") < half
end

-- A component of NDN: its type and its bytes.
function M.ndn_component(kind, value)
    if DIGESTS[kind] and #value == 32 then
        return DIGESTS[kind] .. "=" .. hex(value)
    end
    if NUMBERS[kind] and is_shortest(value) then
        return NUMBERS[kind] .. "=" .. M.decimal(value)
    end
    if kind == 8 then
        return escaped(value)
    end
    return string.format("%.0f=", kind) .. escaped(value)
end

-- A name of NDN, made of pairs of a type and bytes.
function M.ndn(components)
    local parts = {}
    for at, component in ipairs(components) do
        parts[at] = M.ndn_component(component[1], component[2])
    end
    return "/" .. table.concat(parts, "/")
end

local function number_after(component)
    local number = 0
    for at = 2, #component do
        number = number * 256 + string.byte(component, at)
    end
    return number
end

-- What the first byte of a component of CCNx says about it: "segment", "offset", "version" or "command", and
-- the number, the seconds, or the text; or nothing.
function M.marker(component)
    local first = string.byte(component, 1)
    if first == 0x00 and #component <= 7 then
        return "segment", number_after(component)
    elseif first == 0xFB and #component >= 2 and #component <= 7 then
        return "offset", number_after(component)
    elseif first == 0xFD and #component >= 3 and #component <= 7 then
        return "version", number_after(component) / 4096
    elseif first == 0xC1 and string.find(component, "^\193%.") then
        -- The word ends where its arguments begin: `~` and text, or a zero and bytes.
        return "command", string.match(component, "^\193%.([%w%-_%.]*)")
    end
end

return M
