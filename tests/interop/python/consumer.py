"""Asks for one name and prints the content."""
import sys

from ndn.app import NDNApp
from ndn.security import KeychainDigest

app = NDNApp(keychain=KeychainDigest())


async def ask():
    try:
        _name, _meta, content = await app.express_interest(
            sys.argv[1], must_be_fresh=True, can_be_prefix=False, lifetime=4000
        )
        print(bytes(content).decode(), flush=True)
    finally:
        app.shutdown()


app.run_forever(after_start=ask())
