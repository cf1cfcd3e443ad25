//! What happens at one instant at different nodes has no order in the world: what hangs on it can be seen.

use std::error::Error;

use cairn_sim::{AppId, Consumer, LinkConfig, Network, Producer, Queue, SimultaneousOrder, TransferConsumer};
use packet::time::{Duration, Instant};

/// All orders that are looked at.
fn orders() -> impl Iterator<Item = SimultaneousOrder> {
    let drawn = (0..12).map(SimultaneousOrder::Drawn);
    [SimultaneousOrder::Planned, SimultaneousOrder::Reversed].into_iter().chain(drawn)
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
    let (reversed, _) = rivals(SimultaneousOrder::Reversed, Duration::ZERO)?;
    assert!(may_hang && planned[0] < planned[1], "{planned:?}");
    assert_eq!([planned[1], planned[0]], reversed, "nothing else is different");
    let mut first = [0, 0];
    for order in orders() {
        let ([a, b], _) = rivals(order, Duration::ZERO)?;
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
