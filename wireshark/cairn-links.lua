-- Links between frames, shown alike for both link protocols: what was sent before, where it is acknowledged,
-- and which fragments are a message.

local M = {}

-- What `record` of `cairn-history` says of the packet that `tree` shows.
function M.show_packet(seen, tree, record)
    if record.before then
        seen:note(tree, "retransmission_of", record.before)
        tree:add_proto_expert_info(seen.definition.experts.again, "Sent again; first in frame "
            .. record.before)
    end
    if record.acknowledged then
        seen:note(tree, "acknowledged_in", record.acknowledged)
    end
end

-- What is known of the message of a fragment. Gives its bytes, for a view of their own that is called
-- `title`, if this is the frame in which it is complete. `message` is nothing if it is too large.
function M.show_message(seen, tree, message, title)
    local frame = seen.pinfo.number
    if not message then
        tree:add_proto_expert_info(seen.definition.experts.limit, "A message too large to be put together")
        return nil
    elseif message.complete ~= frame then
        if message.complete then
            seen:note(tree, "reassembled_in", message.complete)
        end
        return nil
    end
    for at = 1, message.count do
        if not seen:note(tree, "fragment_frame", message.parts[at].frame) then
            break
        end
    end
    seen:note(tree, "reassembled_length", #message.payload)
    if #message.payload > 0 then
        return ByteArray.new(message.payload, true):tvb(title)
    end
end

return M
