// Asks for one name and prints the content: node consumer.mjs ADDRESS NAME
import { Interest, Name } from "@ndn/packet";
import { consume } from "@ndn/endpoint";
import { connect } from "./connect.mjs";

const [address, name] = process.argv.slice(2);
await connect(address);
const data = await consume(new Interest(new Name(name), Interest.MustBeFresh, Interest.Lifetime(4000)));
console.log(new TextDecoder().decode(data.content));
process.exit(0);
