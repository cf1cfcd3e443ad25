//! Applications on real sockets: a connection to a forwarder, consumers and producers.
