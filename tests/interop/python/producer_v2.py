"""Serves /<prefix> with python-ndn's newer application class, which signs commands in the format of v0.3."""
import asyncio
import sys

from ndn import appv2, encoding as enc
from ndn.security import KeychainDigest

app = appv2.NDNApp()
signer = KeychainDigest().get_signer({})


@app.route(sys.argv[1])
def on_interest(name, _app_param, reply, _context):
    reply(app.make_data(name, content=b"from python", signer=signer, freshness_period=1000))


async def ready():
    # Registration is under way; give up if it is refused.
    print("ready", flush=True)
    while True:
        await asyncio.sleep(60)


app.run_forever(after_start=ready())
