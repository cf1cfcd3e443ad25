//! A network in virtual time: links, clocks, queues, nodes and applications.
