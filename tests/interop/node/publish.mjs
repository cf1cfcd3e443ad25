// Publishes a file as a segmented object with metadata: node publish.mjs ADDRESS NAME FILE
import { readFile } from "node:fs/promises";
import { Name, digestSigning } from "@ndn/packet";
import { serveMetadata } from "@ndn/rdr";
import { BufferChunkSource, serveVersioned } from "@ndn/segmented-object";
import { connect } from "./connect.mjs";

const [address, name, file] = process.argv.slice(2);
await connect(address);
const pOpts = { dataSigner: digestSigning };
const server = serveVersioned(new Name(name), new BufferChunkSource(await readFile(file)), { pOpts });
serveMetadata({ name: server.prefix }, { freshnessPeriod: 100, pOpts });
console.log("ready");
