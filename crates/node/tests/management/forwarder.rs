//! fib, cs and strategy-choice.

use management::{Command, ControlParameters};

use crate::manager::{Manager, about, name};

/// A name of `count` components.
fn long(count: usize) -> ControlParameters {
    about(&"/x".repeat(count))
}

#[test]
fn next_hops_come_and_go_by_number_or_by_the_face_of_the_command() {
    let mut manager = Manager::new();
    let added = manager.done(Command::FibAddNextHop, &about("/a"));
    assert_eq!(added, ControlParameters { face_id: Some(300), cost: Some(0), ..about("/a") });
    let other = ControlParameters { face_id: Some(301), cost: Some(7), ..about("/a") };
    assert_eq!(manager.done(Command::FibAddNextHop, &other), other);
    assert_eq!(manager.node.next_hops("/a"), [(300, 0), (301, 7)]);

    let removed = manager.done(Command::FibRemoveNextHop, &about("/a"));
    assert_eq!(removed, ControlParameters { face_id: Some(300), ..about("/a") });
    assert_eq!(manager.node.next_hops("/a"), [(301, 7)]);
    // Once more is fine too.
    manager.done(Command::FibRemoveNextHop, &about("/a"));
}

#[test]
fn a_next_hop_that_is_no_face_and_a_prefix_that_is_too_long_are_refused() {
    let mut manager = Manager::new();
    let gone = ControlParameters { face_id: Some(999), ..about("/a") };
    assert_eq!(manager.fails(Command::FibAddNextHop, &gone), 410);
    let huge = ControlParameters { face_id: Some(1 << 40), ..about("/a") };
    assert_eq!(manager.fails(Command::FibAddNextHop, &huge), 410);
    manager.done(Command::FibAddNextHop, &long(16));
    assert_eq!(manager.fails(Command::FibAddNextHop, &long(17)), 414);
    manager.node.table_is_full = true;
    assert_eq!(manager.fails(Command::FibAddNextHop, &about("/b")), 503);
}

#[test]
fn the_content_store_is_configured_by_capacity_and_masked_flags() {
    let mut manager = Manager::new();
    let nothing = manager.done(Command::CsConfig, &ControlParameters::default());
    assert_eq!((nothing.capacity, nothing.flags), (Some(65_536), Some(3)));
    let change =
        ControlParameters { capacity: Some(100), flags: Some(0), mask: Some(2), ..Default::default() };
    let changed = manager.done(Command::CsConfig, &change);
    assert_eq!((changed.capacity, changed.flags, changed.mask), (Some(100), Some(1), None));
    let endless = ControlParameters { capacity: Some(1 << 40), ..Default::default() };
    assert_eq!(manager.done(Command::CsConfig, &endless).capacity, Some(u64::from(u32::MAX)));
    let half = ControlParameters { flags: Some(1), ..Default::default() };
    assert_eq!(manager.fails(Command::CsConfig, &half), 400);
}

#[test]
fn one_command_erases_256_data_and_says_when_there_may_be_more() {
    let mut manager = Manager::new();
    let mut erase = |available, count| {
        manager.node.erasable = available;
        let answer = manager.done(Command::CsErase, &ControlParameters { count, ..about("/a") });
        assert_eq!(answer.name, Some(name("/a")));
        (answer.count, answer.capacity)
    };
    assert_eq!(erase(0, None), (Some(0), None));
    assert_eq!(erase(12, None), (Some(12), None));
    assert_eq!(erase(12, Some(5)), (Some(5), None));
    assert_eq!(erase(1000, None), (Some(256), Some(256)));
    assert_eq!(erase(1000, Some(256)), (Some(256), None));
    assert_eq!(erase(1000, Some(300)), (Some(256), Some(256)));
    assert_eq!(manager.fails(Command::CsErase, &ControlParameters { count: Some(0), ..about("/a") }), 400);
}

#[test]
fn a_strategy_is_chosen_by_name_and_the_answer_holds_its_version() {
    let mut manager = Manager::new();
    let choose = |strategy: &str| ControlParameters { strategy: Some(name(strategy)), ..about("/a") };
    let chosen = manager.done(Command::StrategySet, &choose("/localhost/nfd/strategy/multicast"));
    assert_eq!(chosen, choose("/localhost/nfd/strategy/multicast/v=5"));
    assert_eq!(manager.node.strategies[&name("/a")], name("/localhost/nfd/strategy/multicast/v=5"));

    for (strategy, code) in [
        ("/localhost/nfd/strategy/nonsense", 404),
        ("/elsewhere", 404),
        ("/localhost/nfd/strategy/multicast/v=6", 404),
        ("/localhost/nfd/strategy/multicast/v=4", 409),
        ("/localhost/nfd/strategy/multicast/v=5/speed", 409),
        ("/localhost/nfd/strategy/multicast/%FD%04", 409),
        ("/localhost/nfd/strategy/multicast/%FD%04%01%01", 404),
    ] {
        assert_eq!(manager.fails(Command::StrategySet, &choose(strategy)), code, "{strategy}");
    }
    let strategy = Some(name("/localhost/nfd/strategy/multicast"));
    assert_eq!(manager.fails(Command::StrategySet, &ControlParameters { strategy, ..long(33) }), 414);
}

#[test]
fn strategies_are_named_as_nfd_lets_them_be_named() {
    let mut manager = Manager::new();
    for (asked, chosen) in [
        ("/localhost/nfd/strategy/best-route/%FD%05", "/localhost/nfd/strategy/best-route/v=5"),
        ("/localhost/nfd/strategy/multicast/v=5/speed~9", "/localhost/nfd/strategy/multicast/v=5"),
        (
            "/localhost/nfd/strategy/asf/%FD%05/speed~9/probing-interval~30000/colour~blue",
            "/localhost/nfd/strategy/asf/v=5/probing-interval~30000",
        ),
    ] {
        let wanted = ControlParameters { strategy: Some(name(asked)), ..about("/a") };
        assert_eq!(manager.done(Command::StrategySet, &wanted).strategy, Some(name(chosen)), "{asked}");
        assert_eq!(manager.node.strategies[&name("/a")], name(chosen));
    }
}

#[test]
fn a_choice_is_taken_back_whether_there_is_one_or_not_but_never_that_for_the_root() {
    let mut manager = Manager::new();
    manager.node.strategies.insert(name("/a"), name("/localhost/nfd/strategy/asf/v=5"));
    for _ in 0..2 {
        assert_eq!(manager.done(Command::StrategyUnset, &about("/a")), about("/a"));
        assert!(manager.node.strategies.is_empty());
    }
    assert_eq!(manager.fails(Command::StrategyUnset, &about("/")), 400);
}
