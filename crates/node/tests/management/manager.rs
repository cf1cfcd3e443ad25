//! Management and a fake node together, and what the tests ask them.

use cairn_node::control::{ControlApplication, FaceEvent, FaceEventKind};
use cairn_node::management::{ManagementConfig, NfdManagement};
use engine::FaceId;
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, Dataset, DatasetFetch, DatasetItem,
    StatusCode, decode_list,
};
use packet::ndn::{InterestBuilder, SignatureInfoBuilder, SignatureType};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, Name, Now, UnixTime};

use crate::fake_node::{APPLICATION, FakeNode};

pub(crate) struct Manager {
    pub(crate) node: FakeNode,
    pub(crate) management: NfdManagement,
    pub(crate) now: Now,
    /// Whether somebody else always wants something, so that nothing is done in the background.
    pub(crate) is_busy: bool,
}

/// The Interest for a command, signed by nobody.
pub(crate) fn command(scope: CommandScope, command: Command, parameters: &ControlParameters) -> Interest {
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).nonce(1).time_ms(2);
    command.interest(scope, parameters).unwrap().build_signed(&info, |_| vec![0; 32]).unwrap()
}

pub(crate) fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

/// Parameters with a name, for a start.
pub(crate) fn about(uri: &str) -> ControlParameters {
    ControlParameters { name: Some(name(uri)), ..Default::default() }
}

impl Manager {
    pub(crate) fn new() -> Self {
        Manager::with(ManagementConfig::default())
    }

    pub(crate) fn with(config: ManagementConfig) -> Self {
        let now = Now { instant: Instant::from_secs(100), unix: UnixTime::from_millis(1_700_000_000_000) };
        let mut manager =
            Manager { node: FakeNode::new(), management: NfdManagement::new(config), now, is_busy: false };
        manager.management.start(now, &mut manager.node);
        assert!(manager.management.poll_data().is_none());
        manager
    }

    /// What is sent in answer to `interest`: at most one Data.
    pub(crate) fn ask_from(&mut self, from: FaceId, interest: &Interest) -> Option<Data> {
        self.management.handle_interest(self.now, &mut self.node, interest, from);
        self.be_at_leisure();
        let answer = self.management.poll_data();
        assert!(self.management.poll_data().is_none(), "more than one answer");
        answer
    }

    pub(crate) fn ask(&mut self, interest: &Interest) -> Option<Data> {
        self.ask_from(APPLICATION, interest)
    }

    /// What a command from the application is answered with.
    pub(crate) fn tell(&mut self, what: Command, parameters: &ControlParameters) -> ControlResponse {
        let interest = command(CommandScope::Localhost, what, parameters);
        let data = self.ask(&interest).unwrap();
        assert_eq!(data.name(), interest.name(), "the answer is called like the question");
        assert_eq!(data.freshness(), Duration::from_secs(1));
        ControlResponse::decode(data.content()).unwrap()
    }

    /// The parameters in a successful answer.
    pub(crate) fn done(&mut self, what: Command, parameters: &ControlParameters) -> ControlParameters {
        let response = self.tell(what, parameters);
        assert_eq!((response.code, response.text.as_str()), (StatusCode::Ok, "OK"));
        response.expect_parameters().unwrap()
    }

    /// The code that a command fails with.
    pub(crate) fn fails(&mut self, what: Command, parameters: &ControlParameters) -> u64 {
        let response = self.tell(what, parameters);
        assert_ne!(response.code, StatusCode::Ok);
        response.code.number()
    }

    /// The content of a dataset, fetched segment by segment.
    pub(crate) fn fetch(&mut self, name: Name) -> Vec<u8> {
        let mut fetch = DatasetFetch::new(name);
        loop {
            let interest = fetch.interest().unwrap().build().unwrap();
            let data = self.ask(&interest).unwrap();
            if let Some(content) = fetch.receive(&data).unwrap() {
                return content;
            }
        }
    }

    pub(crate) fn list<T: DatasetItem>(&mut self, dataset: Dataset) -> Vec<T> {
        decode_list(&self.fetch(dataset.name().unwrap())).unwrap()
    }

    pub(crate) fn discover(&mut self, uri: &str) -> Option<Data> {
        self.ask(&InterestBuilder::new(name(uri)).can_be_prefix(true).must_be_fresh(true).build().unwrap())
    }

    pub(crate) fn exact(&mut self, uri: &str) -> Option<Data> {
        self.ask(&InterestBuilder::new(name(uri)).build().unwrap())
    }

    pub(crate) fn let_time_pass(&mut self, span: Duration) {
        self.now.instant += span;
        self.now.unix = self.now.unix.after(span);
        if self.management.next_deadline() <= self.now.instant {
            self.management.handle_timeout(self.now, &mut self.node);
        }
        self.be_at_leisure();
    }

    /// What the control thread does when nobody wants anything.
    fn be_at_leisure(&mut self) {
        while !self.is_busy && self.management.has_background_work() {
            self.management.do_background_work(self.now, &mut self.node);
        }
    }

    /// Tells of something that happened to a face; gives what is sent.
    pub(crate) fn face_event(&mut self, kind: FaceEventKind, face: FaceId) -> Vec<Data> {
        let face = self.node.faces[&face].clone();
        if kind == FaceEventKind::Destroyed {
            self.node.faces.remove(&face.id);
            self.node.hops.retain(|(_, hop), _| *hop != face.id);
        }
        self.management.handle_face_event(self.now, &mut self.node, &FaceEvent { kind, face, why: None });
        self.be_at_leisure();
        std::iter::from_fn(|| self.management.poll_data()).collect()
    }

    pub(crate) fn next_data(&mut self) -> Option<Data> {
        self.management.poll_data()
    }
}
