//! A node's and a link's number in a plan: types of their own, so that neither is taken for the other.

use serde::{Deserialize, Serialize};
use sim::arena::Arena;

use super::{LinkPlan, NodePlan};

sim::ids! {
    /// A node's place in [`Plan::nodes`](super::Plan::nodes).
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub NodeIndex(usize);
    /// A link's place in [`Plan::links`](super::Plan::links).
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub LinkIndex(usize);
}

/// The nodes of a plan.
pub type Nodes = Arena<NodeIndex, NodePlan>;
/// The links of a plan.
pub type Links = Arena<LinkIndex, LinkPlan>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_a_plan_is_a_plain_list_in_a_file() {
        let mut list: Arena<NodeIndex, &str> = Arena::default();
        assert_eq!(list.push("a"), NodeIndex(0));
        assert_eq!(list.push("b"), NodeIndex(1));
        let written = serde_json::to_string(&(&list, LinkIndex(4))).unwrap();
        assert_eq!(written, r#"[["a","b"],4]"#);
        let read: (Arena<NodeIndex, String>, LinkIndex) = serde_json::from_str(&written).unwrap();
        assert_eq!(read.0[NodeIndex(1)], "b");
        assert_eq!(read.0.position(|name| name == "b"), Some(NodeIndex(1)));
        assert_eq!(read.1, LinkIndex(4));
    }
}
