//! Random networks that must heal. `CAIRN_SWARM_SEEDS` says how many, `CAIRN_SWARM_SEED` where to begin.

fn from_environment(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn networks_heal_and_keep_their_promises_all_the_while() {
    let first = from_environment("CAIRN_SWARM_SEED", 0);
    let mut fetched = 0;
    for seed in first..first + from_environment("CAIRN_SWARM_SEEDS", 25) {
        match cairn_sim::swarm::run(seed) {
            Ok(report) => fetched += report.fetched,
            Err(failure) => panic!("{failure}"),
        }
    }
    assert!(fetched > 0);
}

/// Of 6,000 seeds the one in which a busy processor takes up an Interest so late that the answer comes after
/// the lifetime that its application counts.
#[test]
fn an_answer_to_an_interest_that_waited_for_its_node_is_not_taken_for_unasked() {
    if let Err(failure) = cairn_sim::swarm::run(1099) {
        panic!("{failure}");
    }
}

#[test]
fn a_seed_always_lives_the_same_life() {
    let lives = [cairn_sim::swarm::run(11), cairn_sim::swarm::run(11)]
        .map(|life| life.map_err(|failure| failure.to_string()));
    assert_eq!(lives[0], lives[1]);
}
