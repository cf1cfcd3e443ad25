// Fetches a segmented object by its metadata and prints it: node fetch.mjs ADDRESS NAME
import { Name } from "@ndn/packet";
import { retrieveMetadata } from "@ndn/rdr";
import { fetch } from "@ndn/segmented-object";
import { connect } from "./connect.mjs";

const [address, name] = process.argv.slice(2);
await connect(address);
const metadata = await retrieveMetadata(new Name(name), { retx: 3 });
await fetch(metadata.name).pipe(process.stdout);
process.exit(0);
