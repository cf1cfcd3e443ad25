"""Fetches a segmented object and writes it to standard output."""
import sys

from ndn.app import NDNApp
from ndn.app_support.segment_fetcher import segment_fetcher
from ndn.security import KeychainDigest

app = NDNApp(keychain=KeychainDigest())


async def fetch():
    try:
        async for segment in segment_fetcher(app, sys.argv[1], must_be_fresh=True):
            sys.stdout.buffer.write(segment)
        sys.stdout.flush()
    finally:
        app.shutdown()


app.run_forever(after_start=fetch())
