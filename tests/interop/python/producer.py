"""Serves /<prefix> with python-ndn's older application class.

That class signs commands in the format from before v0.3.
"""
import sys

from ndn.app import NDNApp
from ndn.security import KeychainDigest

app = NDNApp(keychain=KeychainDigest())


@app.route(sys.argv[1])
def on_interest(name, _param, _app_param):
    app.put_data(name, content=b"from python", freshness_period=1000)


async def ready():
    print("ready", flush=True)


app.run_forever(after_start=ready())
