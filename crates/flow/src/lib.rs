//! End to end: segmenting publisher, fetcher, round-trip estimation, transfer controllers, pacing.
