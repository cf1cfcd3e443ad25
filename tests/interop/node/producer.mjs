// Serves a prefix: node producer.mjs ADDRESS PREFIX
import { Data, digestSigning, Name } from "@ndn/packet";
import { produce } from "@ndn/endpoint";
import { connect } from "./connect.mjs";

const [address, prefix] = process.argv.slice(2);
await connect(address);
produce(new Name(prefix), async (interest) => {
  const data = new Data(interest.name, Data.FreshnessPeriod(1000), new TextEncoder().encode("from node"));
  await digestSigning.sign(data);
  return data;
});
console.log("ready");
