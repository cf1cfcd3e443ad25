//! What of a new configuration a running node cannot take over.

use super::Config;

impl Config {
    /// What differs in `new` and is in force only after a restart: sections, or single keys where the rest of
    /// the section is taken over at once.
    pub fn needs_restart_for(&self, new: &Config) -> Vec<&'static str> {
        let mut tables = self.tables.clone();
        // What every face has for itself.
        tables.max_pending_per_face = new.tables.max_pending_per_face;
        tables.max_interests_per_second_per_face = new.tables.max_interests_per_second_per_face;
        tables.interest_burst_per_face = new.tables.interest_burst_per_face;
        let (mut udp, mut ethernet, mut websocket) =
            (self.udp.clone(), self.ethernet.clone(), self.websocket.clone());
        (udp.mtu_bytes, udp.reliability, udp.accept) =
            (new.udp.mtu_bytes, new.udp.reliability, new.udp.accept);
        udp.own_sockets = new.udp.own_sockets;
        ethernet.accept = new.ethernet.accept;
        let mut ccnx = self.ccnx.clone();
        ccnx.stuffed_bytes = new.ccnx.stuffed_bytes;
        ccnx.status_page = new.ccnx.status_page;
        (ccnx.ndnlp_mtu_bytes, ccnx.ndnlp_acknowledged) =
            (new.ccnx.ndnlp_mtu_bytes, new.ccnx.ndnlp_acknowledged);
        websocket.local_origins.clone_from(&new.websocket.local_origins);
        let fixed = [
            ("tables", tables != new.tables),
            ("udp", udp != new.udp),
            ("multicast", self.multicast != new.multicast),
            ("tcp", self.tcp != new.tcp),
            ("unix", self.unix != new.unix),
            ("websocket.listen", websocket != new.websocket),
            ("ethernet", ethernet != new.ethernet),
            ("ccnx", ccnx != new.ccnx),
            ("management", self.management != new.management || self.authorize != new.authorize),
            ("verification", self.verification != new.verification),
            ("repository", self.repositories != new.repositories),
            ("node.pin_to_cpu", self.node.pin_to_cpu != new.node.pin_to_cpu),
            ("node.capture_socket", self.node.capture_socket != new.node.capture_socket),
        ];
        fixed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed_for(text: &str) -> Vec<&'static str> {
        Config::default().needs_restart_for(&Config::read(text).unwrap())
    }

    #[test]
    fn what_a_running_node_cannot_change_is_named_and_nothing_else_is() {
        for (text, expected) in [
            ("[tables]\nmax_pending = 5", &["tables"][..]),
            ("[tables]\nmax_pending_per_face = 5\ninterest_burst_per_face = 2", &[]),
            ("[udp]\nreceive_buffer_bytes = 1000", &["udp"]),
            ("[udp]\nmtu_bytes = 1400\nreliability = true\naccept = false", &[]),
            ("[websocket]\nlocal_origins = [\"http://x\"]", &[]),
            ("[websocket]\nlisten = []", &["websocket.listen"]),
            ("[ethernet]\naccept = false", &[]),
            ("[ethernet]\nmulticast = false", &["ethernet"]),
            ("[node]\ncapture_socket = \"\"\npin_to_cpu = 0", &["node.pin_to_cpu", "node.capture_socket"]),
            (
                "[node]\nmax_faces = 3\n[content_store]\nmax_entries = 5\n[metrics]\n[log]\nfilter = \"warn\"",
                &[],
            ),
            ("[ccnx]\nenabled = true", &["ccnx"]),
            ("[ccnx]\nstuffed_bytes = 1400", &[]),
            ("[[repository]]\npath = \"x\"", &["repository"]),
            ("[verification]\nshare = 0.5", &["verification"]),
            ("[[authorize]]\ncertificate = \"x\"", &["management"]),
        ] {
            assert_eq!(needed_for(text), expected, "{text}");
        }
    }
}
