//! A small experiment of the lab, in parts. Keys of the whole file, such as its title, and `[defaults]` stand
//! before them.

/// Three nodes in a row: the first downloads files from the last. Keys of the download may follow.
pub const ROW: &str = r#"
[node]
a = {}
b = {}
c = {}

[link]
a-b = {}
b-c = {}

[[route]]
prefix = "/small"
path = ["a", "b", "c"]

[content.files]
prefix = "/small/file"
at = "c"
count = 3
size = "100 kB"

[download.files]
at = "a"
content = "files"
"#;

/// Five pings over the same way.
pub const ROW_PING: &str = r#"
[ping.probe]
at = "a"
to = "c"
prefix = "/small/ping"
count = 5
"#;

/// What is expected of the files.
pub const ROW_EXPECT: &str = r#"
[[expect]]
say = "Every file arrives soon"
value = "files.duration.max"
at_most = 5

[[expect]]
say = "The middle forwards all"
value = "b.goodput.sum"
at_least = 300000
"#;

/// The row, whole, with a content store of its own at the middle.
#[must_use]
pub fn stores() -> String {
    let middle = "\nb = { forwarder = { content_store = 70, content_store_bytes = '3 MiB' } }";
    format!("title = 't'\nduration = '9 s'\n{}", ROW.replace("\nb = {}", middle))
}
