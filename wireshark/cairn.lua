-- Dissectors for Wireshark and tshark: CCNx 0.8, NDNLP version 1, NDN and NDNLPv2.
--
-- This file is what Wireshark starts; the others are modules of it, and do nothing when Wireshark starts them,
-- too, because they lie beside it. docs/wireshark.md says how to install them.

package.path = __DIR__ .. package.config:sub(1, 1) .. "?.lua;" .. package.path

for _, name in ipairs({ "ccnx", "ndnlp", "ndn", "ndnlpv2", "ports" }) do
    require("cairn-" .. name).register()
end
