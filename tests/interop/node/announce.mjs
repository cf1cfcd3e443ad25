// Serves a prefix that it announces instead of registering it: node announce.mjs ADDRESS PREFIX
import { generateSigningKey } from "@ndn/keychain";
import { Data, digestSigning, Name } from "@ndn/packet";
import { produce } from "@ndn/endpoint";
import { enableNfdPrefixReg, PrefixAnn } from "@ndn/nfdmgmt";
import { connectWithoutRegistration } from "./connect.mjs";

const [address, prefix] = process.argv.slice(2);
enableNfdPrefixReg(await connectWithoutRegistration(address), { PrefixAnn });
const announced = new Name(prefix);
// A digest alone is no signature, and is refused.
const [signer] = await generateSigningKey(prefix);
const announcement = await PrefixAnn.build({ announced, expirationPeriod: 60_000, signer });
produce(announced, async (interest) => {
  const data = new Data(interest.name, Data.FreshnessPeriod(1000), new TextEncoder().encode("announced"));
  await digestSigning.sign(data);
  return data;
}, { announcement });
console.log("ready");
