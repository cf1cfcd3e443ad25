// Connects to a forwarder by an address such as unix:///path, tcp://host:port, udp://host:port or
// ws://host:port.
import { TcpTransport, UdpTransport, UnixTransport } from "@ndn/node-transport";
import { WsTransport } from "@ndn/ws-transport";
import { enableNfdPrefixReg } from "@ndn/nfdmgmt";

export async function connectWithoutRegistration(address) {
  const url = new URL(address);
  const host = { host: url.hostname, port: Number(url.port) };
  return {
    "unix:": () => UnixTransport.createFace({}, url.pathname),
    "tcp:": () => TcpTransport.createFace({}, host),
    "udp:": () => UdpTransport.createFace({}, host),
    "ws:": () => WsTransport.createFace({}, address),
  }[url.protocol]();
}

export async function connect(address) {
  const face = await connectWithoutRegistration(address);
  enableNfdPrefixReg(face);
  return face;
}
