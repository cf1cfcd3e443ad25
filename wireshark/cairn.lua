-- Dissectors for Wireshark and tshark: CCNx 0.8, NDNLP version 1, NDN and NDNLPv2.
--
-- This file is what Wireshark starts; the others are modules of it. docs/wireshark.md says how to install
-- them.

-- They may be installed for all users and for one.
if package.loaded["cairn"] then
    return
end
package.loaded["cairn"] = true

-- The modules lie beside this file. Not every Wireshark says where that is: for plugins of all users 4.0 has
-- no `__DIR__`.
local folder = string.match(debug.getinfo(1, "S").source, "^@(.*)[/\\]") or "."
package.path = folder .. package.config:sub(1, 1) .. "?.lua;" .. package.path

for _, name in ipairs({ "ccnx", "ndnlp", "ndn", "ndnlpv2", "ports" }) do
    require("cairn-" .. name).register()
end
