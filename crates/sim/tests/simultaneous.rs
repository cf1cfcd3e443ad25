//! What happens at one instant at different nodes has no order in the world: what hangs on it can be seen.

use std::error::Error;

use cairn_sim::{AppId, Consumer, LinkConfig, Network, Producer, Queue, SimultaneousOrder, TransferConsumer};
use packet::time::{Duration, Instant};

/// All orders that are looked at.
fn orders() -> impl Iterator<Item = SimultaneousOrder> {
    let drawn = (0..12).map(SimultaneousOrder::Drawn);
    std::iter::once(SimultaneousOrder::Planned).chain(drawn)
}

/// Two equal consumers, each behind a link of its own, that fetch as much from behind one link: when each is
/// done, and whether that may hang on an order.
fn rivals(order: SimultaneousOrder, later: Duration) -> Result<([Instant; 2], bool), Box<dyn Error>> {
    let mut network = Network::new(1);
    network.set_simultaneous_order(order);
    let nodes = network.add_nodes(4)?;
    let link = LinkConfig::ideal().mbps(10.0).millis(5).queue(Queue::packets(1_000));
    for (from, to) in [(0, 2), (1, 2), (2, 3)] {
        network.connect(nodes[from], nodes[to], &link)?;
    }
    let mut consumers: Vec<AppId> = Vec::new();
    for (place, prefix) in ["/a", "/b"].into_iter().enumerate() {
        network.add_producer(nodes[3], prefix, Producer::new(1_000))?;
        let begin = if place == 0 { Duration::from_secs(1) } else { Duration::from_secs(1) + later };
        let config = flow::TransferConfig { controller: "fixed/window~8".parse()?, ..Default::default() };
        let consumer = TransferConsumer::new(prefix, config)?.items(200).start_at(begin);
        consumers.push(network.add_application(nodes[place], consumer)?);
    }
    network.route_shortest_paths()?;
    network.run_for(Duration::from_secs(9))?;
    let mut ends = [Instant::ZERO; 2];
    for (end, id) in ends.iter_mut().zip(consumers) {
        let consumer = network.application::<TransferConsumer>(id).ok_or("no consumer")?;
        *end = consumer.completed_at().ok_or("it did not finish")?;
    }
    Ok((ends, network.may_depend_on_ties()))
}

#[test]
fn of_equal_rivals_the_one_that_is_first_is_first_by_the_order_alone() -> Result<(), Box<dyn Error>> {
    let (planned, may_hang) = rivals(SimultaneousOrder::Planned, Duration::ZERO)?;
    assert!(may_hang && planned[0] < planned[1], "{planned:?}");
    let mut first = [0, 0];
    for order in orders() {
        let ([a, b], _) = rivals(order, Duration::ZERO)?;
        let turned = [planned[1], planned[0]];
        assert!([a, b] == planned || [a, b] == turned, "nothing else is different: {a:?} {b:?}");
        first[usize::from(b < a)] += 1;
    }
    assert!(first[0] > 2 && first[1] > 2, "{first:?}");
    Ok(())
}

#[test]
fn where_nothing_meets_the_order_makes_no_difference() -> Result<(), Box<dyn Error>> {
    // Never in step: what one of them brings about does not come together with anything of the other.
    let mut found = Vec::new();
    for order in orders() {
        let mut network = Network::new(1);
        network.set_simultaneous_order(order);
        let nodes = network.add_nodes(4)?;
        for ((from, to), micros) in [(0, 2), (1, 2), (2, 3)].into_iter().zip([1_003, 1_701, 2_927]) {
            network.connect(
                nodes[from],
                nodes[to],
                &LinkConfig::ideal().delay(Duration::from_micros(micros)),
            )?;
        }
        network.add_producer(nodes[3], "/v", Producer::new(1_000))?;
        for node in [0, 1] {
            network.add_application(nodes[node], Consumer::constant_rate("/v", 10.0)?.limit(20))?;
        }
        network.route_shortest_paths()?;
        network.run_for(Duration::from_secs(5))?;
        found.push((network.trace().hash(), network.may_depend_on_ties()));
    }
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    assert!(!found[0].1, "two that send at one instant from different nodes do not meet");
    Ok(())
}

/// When each consumer has all, and whether that may hang on an order.
type Arrivals = (Vec<Option<Instant>>, bool);

/// Two consumers on one shared link, the second of which begins so much later, and ask a node on the same
/// link for as much: when each has all, and whether that may hang on an order.
fn on_a_shared_link(
    link: &LinkConfig,
    later: Duration,
    order: SimultaneousOrder,
) -> Result<Arrivals, Box<dyn Error>> {
    let mut network = Network::new(1);
    network.set_simultaneous_order(order);
    let nodes = network.add_nodes(3)?;
    network.connect_all(&nodes, link)?;
    let mut consumers = Vec::new();
    for (node, prefix, later) in [(0, "/a", Duration::ZERO), (1, "/b", later)] {
        network.add_producer(nodes[2], prefix, Producer::new(1_000))?;
        let config = flow::TransferConfig { controller: "fixed/window~1".parse()?, ..Default::default() };
        let begin = Duration::from_secs(1) + later;
        let consumer = TransferConsumer::new(prefix, config)?.items(1).start_at(begin);
        consumers.push(network.add_application(nodes[node], consumer)?);
    }
    network.route_shortest_paths()?;
    network.run_for(Duration::from_secs(9))?;
    let ends = consumers.into_iter().map(|id| network.application::<TransferConsumer>(id)?.completed_at());
    Ok((ends.collect(), network.may_depend_on_ties()))
}

#[test]
fn two_nodes_that_send_at_one_instant_on_a_shared_link_are_a_tie() -> Result<(), Box<dyn Error>> {
    let rated = LinkConfig::ideal().mbps(10.0).millis(5).queue(Queue::packets(1_000));
    let mut found = std::collections::BTreeSet::new();
    for order in orders() {
        let (ends, may_hang) = on_a_shared_link(&rated, Duration::ZERO, order)?;
        assert!(may_hang, "{order:?}");
        found.insert(ends);
    }
    assert_eq!(found.len(), 2, "either of them is first: {found:?}");
    let later = Duration::from_millis(500);
    let (_, may_hang) = on_a_shared_link(&rated, later, SimultaneousOrder::Planned)?;
    assert!(!may_hang, "they never send at one instant");
    let unrated = LinkConfig::ideal().millis(5);
    let (_, may_hang) = on_a_shared_link(&unrated, Duration::ZERO, SimultaneousOrder::Planned)?;
    assert!(may_hang, "what they send comes to the third at one instant");
    Ok(())
}
