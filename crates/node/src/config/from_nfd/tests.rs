use std::path::Path;

use proptest::prelude::*;

use super::*;

fn convert(text: &str) -> Converted {
    from_nfd(text, Path::new("/etc/ndn")).unwrap()
}

const CAMPUS: &str = r#"
; a router on a campus
general
{
  user ndn
}
log { default_level WARN
  Forwarder DEBUG
}
forwarder { default_hop_limit 64 }
tables
{
  cs_max_packets 4096
  cs_policy lru
  cs_unsolicited_policy admit-local
  strategy_choice
  {
    /           /localhost/nfd/strategy/multicast
    /campus     /localhost/nfd/strategy/asf/v=5/probing-interval~30000
  }
  network_region
  {
    /campus
  }
}
face_system
{
  general { enable_congestion_marking no }
  unix { path /run/nfd/nfd.sock }
  tcp { port 7000
    enable_v6 no
  }
  udp
  {
    listen no
    idle_timeout 60
    unicast_mtu 1400
    mcast_group 224.0.0.99
    mcast_port 5000
    whitelist
    {
      ifname "en*"
      subnet 192.0.2.0/24
    }
    blacklist { ether 02:00:00:00:00:01 }
  }
  ether
  {
    listen yes
    mcast no
    mcast_group 01:00:5E:00:17:AA
  }
}
authorizations
{
  authorize
  {
    certfile keys/operator.ndncert
    privileges { faces
      fib
    }
  }
}
rib
{
  localhop_security
  {
    trust-anchor
    {
      type file
      file-name campus.ndncert
    }
  }
  readvertise_nlsr yes
}
"#;

#[test]
fn what_nfd_is_told_a_node_is_told() {
    let converted = convert(CAMPUS);
    let config = Config::read(&converted.text).unwrap();
    assert_eq!(config.log.filter, "warn");
    assert_eq!((config.tables.default_hop_limit, config.content_store.max_entries), (64, 4096));
    assert_eq!(config.content_store.unsolicited, "admit-local");
    assert_eq!(config.tables.default_strategy, "/localhost/nfd/strategy/multicast");
    assert_eq!((config.strategies.len(), config.tables.producer_regions), (1, vec!["/campus".to_owned()]));
    assert!(!config.node.congestion_marking);
    assert_eq!(config.unix.listen, Some(vec!["/run/nfd/nfd.sock".into()]));
    assert_eq!(config.tcp.listen, ["0.0.0.0:7000".parse().unwrap()]);
    assert_eq!((config.udp.accept, config.udp.listen.len(), config.udp.mtu_bytes), (false, 2, 1400));
    assert_eq!(config.node.idle_timeout_secs, 60);
    assert_eq!(config.multicast.group_v4, "224.0.0.99:5000".parse().unwrap());
    assert_eq!(config.multicast.interfaces, ["en*", "192.0.2.0/24"]);
    assert_eq!(config.multicast.exclude, ["02:00:00:00:00:01"]);
    assert_eq!((config.ethernet.interfaces, config.ethernet.multicast), (vec!["*".to_owned()], false));
    assert!(config.websocket.listen.is_empty(), "NFD has no WebSocket without its section");
    assert!(config.management.localhop);
    let authorized = |number: usize| {
        let section = &config.authorize[number];
        (section.certificate.to_str().unwrap().to_owned(), section.modules.join(" "), section.delegates)
    };
    assert_eq!(authorized(0), ("/etc/ndn/keys/operator.ndncert".to_owned(), "faces fib".to_owned(), false));
    assert_eq!(authorized(1), ("/etc/ndn/campus.ndncert".to_owned(), "localhop".to_owned(), true));
}

#[test]
fn what_has_no_counterpart_is_told_with_its_line_in_the_output_too() {
    let converted = convert(CAMPUS);
    for expected in ["line 5: general.user", "line 8: log.Forwarder", "line 74: rib.readvertise_nlsr"] {
        assert!(
            converted.notes.iter().any(|note| note.starts_with(expected)),
            "{expected}: {:#?}",
            converted.notes
        );
        assert!(converted.text.contains(&format!("# {expected}")), "{expected}");
    }
    assert!(convert("colour { red 1 }").notes[0].contains("line 1: colour is not known"));
}

#[test]
fn an_empty_file_listens_nowhere_as_in_nfd() {
    let config = Config::read(&convert("").text).unwrap();
    assert!(
        config.tcp.listen.is_empty() && config.udp.listen.is_empty() && config.websocket.listen.is_empty()
    );
    assert_eq!(config.unix.listen, Some(Vec::new()));
    let config = Config::read(&convert("face_system { udp }").text).unwrap();
    assert_eq!(config.multicast.interfaces, ["*"], "multicast is on where UDP is");
}

#[test]
fn a_file_of_a_million_unknown_keys_makes_a_configuration_that_can_be_read_again() {
    let converted = convert(&"colour 1\n".repeat(1_000_000));
    assert_eq!(converted.notes.len(), 1_000_000);
    assert!(converted.text.len() < 1 << 17, "{} bytes", converted.text.len());
    assert!(converted.text.contains("# And 999000 notes more.\n"));
}

#[test]
fn a_strategy_that_nobody_has_is_told_and_left_out_and_the_rest_of_the_file_holds() {
    let converted = convert("tables {\n strategy_choice {\n / no-such\n /a worse\n /b multicast\n }\n}");
    let config = Config::read(&converted.text).unwrap();
    assert_eq!(config.tables.default_strategy, Config::default().tables.default_strategy);
    assert_eq!(config.strategies.iter().map(|choice| choice.prefix.as_str()).collect::<Vec<_>>(), ["/b"]);
    assert_eq!(converted.notes.len(), 2, "{:?}", converted.notes);
    assert!(converted.notes[0].starts_with("line 3: strategy for /: there is no strategy no-such"));
    assert!(converted.notes[1].starts_with("line 4: strategy for /a: there is no strategy worse"));
}

#[test]
fn a_strategy_with_its_version_in_the_old_way_is_taken_over_and_works() {
    let old = "/localhost/nfd/strategy/best-route/%FD%05";
    let converted = convert(&format!("tables {{ strategy_choice {{ / {old}\n /a {old} }} }}"));
    let config = Config::read(&converted.text).unwrap();
    assert_eq!(config.tables.default_strategy, old);
    config.check().unwrap();
}

#[test]
fn values_that_make_no_sense_are_refused_with_their_line() {
    for (text, line, word) in [
        ("face_system\n{\n tcp\n {\n  listen maybe\n }\n}", 5, "yes or no"),
        ("face_system { tcp { port 70000\n} }", 1, "1 to 65535"),
        ("face_system {\n udp { mcast_group 192.0.2.1\n} }", 2, "group"),
        ("face_system {\n udp { whitelist {\n colour blue\n} } }", 3, "ifname"),
        ("forwarder {\n default_hop_limit 256\n}", 2, "0 to 255"),
        ("tables {\n cs_max_packets many\n}", 2, "number"),
    ] {
        let error = from_nfd(text, Path::new("/")).unwrap_err();
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert!(error.problem.contains(word), "{error}");
    }
    // What only shows in the result has no line of its own, and is refused as well.
    assert!(from_nfd("face_system { udp { whitelist { subnet 300.0.0.0/8 } } }", Path::new("/")).is_err());
}

#[test]
fn what_nfd_keeps_closed_is_never_opened() {
    let fails = |text: &str| from_nfd(text, Path::new("/")).unwrap_err().to_string();
    assert!(fails("authorizations { }").contains("nobody"));
    assert!(
        fails("authorizations { authorize { certfile any\n privileges { faces\n } } }")
            .contains("not all of")
    );
    assert!(fails("authorizations { authorize { privileges { faces\n } } }").contains("nobody"));
    let all =
        "authorizations { authorize { certfile any\n privileges { faces\n fib\n cs\n strategy-choice\n } } }";
    convert(all);
    for anchors in [
        "",
        "trust-anchor { type dir\n dir /etc/keys\n }",
        "trust-anchor { type base64\n }",
        "trust-anchor { }",
    ] {
        let local = format!("rib {{ localhost_security {{ {anchors} }} }}");
        assert!(fails(&local).contains("localhost_security"), "{local}");
        let neighbours = convert(&format!("rib {{ localhop_security {{ {anchors} }} }}"));
        assert!(!Config::read(&neighbours.text).unwrap().management.localhop, "{}", neighbours.text);
        assert!(
            neighbours.notes.iter().any(|note| note.contains("may not register")),
            "{:?}",
            neighbours.notes
        );
    }
    let open = convert("rib { localhop_security { trust-anchor { type any\n } } }");
    assert!(Config::read(&open.text).unwrap().management.localhop);
}

#[test]
fn odd_text_stays_in_its_comment_or_its_string() {
    let converted = convert("\"x\\ny = 1\" 1\nface_system { unix { path \"/a\\\"\\nb\" } }\n");
    let config = Config::read(&converted.text).unwrap();
    assert_eq!(config.unix.listen, Some(vec!["/a\"\nb".into()]));
}

proptest! {
    #[test]
    fn whatever_is_converted_can_be_read(words in proptest::collection::vec(proptest::sample::select(vec![
        "{", "}", "\n", "face_system", "udp", "tcp", "ether", "unix", "path", "whitelist", "blacklist", "*", "ifname", "subnet",
        "en*", "10.0.0.0/8", "yes", "no", "listen", "mcast", "port", "6363", "tables", "strategy_choice", "/a",
        "/localhost/nfd/strategy/asf", "rib", "localhop_security", "trust-anchor", "type", "any", "file", "\"é\\n\"", ";",
        "cs_max_packets", "authorizations", "authorize", "certfile", "privileges", "log", "default_level", "websocket",
    ]), 0..40)) {
        if let Ok(converted) = from_nfd(&words.join(" "), Path::new("/")) {
            prop_assert!(Config::read(&converted.text).is_ok(), "{}", converted.text);
        }
    }
}
