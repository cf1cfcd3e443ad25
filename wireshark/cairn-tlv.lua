-- Elements of NDN: type, length, value. From bytes to elements, one level at a time.
--
-- Nothing here knows Wireshark.

local M = {}

-- Bytes of a packet, its header included, that are waited for in a stream. Senders keep to 8,800.
M.MAX_PACKET = 65536
-- Elements in one element.
M.MAX_CHILDREN = 5000

-- No element is longer. Newer versions of Lua have whole numbers of 64 bits that wrap: reckoned with as
-- doubles, they do not.
local MAX_NUMBER = 2 ^ 48

-- The number at `at` and where the next byte is; or a problem.
local function number(bytes, at, last)
    local first = at <= last and string.byte(bytes, at)
    if not first then
        return nil, { at = at, missing = 1 }
    elseif first < 253 then
        return first, at + 1
    end
    local length = 2 ^ (first - 252)
    if at + length > last then
        return nil, { at = last + 1, missing = at + length - last }
    end
    local value = 0.0
    for place = at + 1, at + length do
        value = value * 256 + string.byte(bytes, place)
    end
    if value < ({ 253, 65536, 4294967296 })[first - 252] then
        return nil, { at = at, text = "A number that is not in its shortest form" }
    elseif value > MAX_NUMBER then
        return nil, { at = at, text = "A number that is too large" }
    end
    return math.floor(value), math.floor(at + 1 + length)
end

-- The element at `at`: `kind`, `at`, `from`, `to`. Or nil and a problem, as `cairn-ccnb` has them; with
-- `is_exact` as many bytes as are missing will be the last.
function M.element(bytes, at, last)
    local kind, next_at = number(bytes, at, last)
    if not kind then
        return nil, next_at
    end
    if kind == 0 or kind > 4294967295 then
        return nil, { at = at, text = "A type that there is not" }
    end
    local length, from = number(bytes, next_at, last)
    if not length then
        return nil, from
    end
    local missing = from + length - 1 - last
    if missing > 0 then
        return nil, { at = last + 1, missing = missing, is_exact = true, kind = kind, from = from }
    end
    return { kind = kind, at = at, from = from, to = from + length - 1 }
end

-- The elements that fill from..to, and a problem if the last is not whole.
function M.elements(bytes, from, to)
    local list, at = {}, from
    while at <= to do
        if #list >= M.MAX_CHILDREN then
            return list, { at = at, text = "More than " .. M.MAX_CHILDREN .. " elements in one" }
        end
        local element, problem = M.element(bytes, at, to)
        if not element then
            if problem.missing then
                problem = { at = at, missing = 1, text = "An element that is longer than the one around it" }
            end
            return list, problem
        end
        table.insert(list, element)
        at = element.to + 1
    end
    return list, nil
end

return M
