//! HLS and DASH: a film for players as a web server has it, and the players that browsers run.

mod cmaf;

use std::fmt::Write as _;
use std::path::Path;

use testkit::needs::needed;

use crate::world::World;

/// Where `cargo xtask ci` has npm put the players.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/players/node_modules");

/// Scripts of hls.js and dash.js; `None` where tests may do without.
pub(crate) fn scripts() -> Option<[(&'static str, Vec<u8>); 2]> {
    let read = |file: &str| {
        let path = Path::new(UNPACKED).join(file);
        let found = std::fs::read(&path);
        found.map_err(|error| format!("{}: {error}; `cargo xtask ci` puts it there", path.display()))
    };
    let scripts = read("hls.js/dist/hls.min.js").and_then(|hls| {
        let dash = read("dashjs/dist/modern/umd/dash.all.min.js")?;
        Ok([("/hls.js", hls), ("/dash.js", dash)])
    });
    needed("players of HLS and DASH", scripts)
}

/// Writes a film of so many seconds in two qualities, with playlists for HLS and for DASH: `low` has a file
/// for each second, `high` one file whose parts are asked for by their ranges.
pub(crate) fn write_film(world: &World, seconds: u32) {
    let head = cmaf::head(seconds);
    let low = |second| cmaf::segment(second, 20_000);
    world.write("files/film/low/head.mp4", &head);
    let mut whole = head.clone();
    let mut ranges = Vec::new();
    for second in 0..seconds {
        world.write(&format!("files/film/low/{}.m4s", second + 1), &low(second));
        let segment = cmaf::segment(second, 400_000);
        ranges.push((whole.len(), segment.len()));
        whole.extend(segment);
    }
    world.write("files/film/high/film.mp4", &whole);
    world.write("files/film/film.m3u8", main_playlist().as_bytes());
    world.write("files/film/low/list.m3u8", low_playlist(seconds).as_bytes());
    world.write("files/film/high/list.m3u8", high_playlist(head.len(), &ranges).as_bytes());
    world.write("files/film/film.mpd", manifest(seconds, head.len(), &ranges).as_bytes());
}

fn main_playlist() -> String {
    let mut text = "#EXTM3U\n#EXT-X-VERSION:7\n".to_owned();
    for (bandwidth, quality) in [(200_000, "low"), (3_500_000, "high")] {
        let codec = cmaf::CODEC;
        let _ = writeln!(
            text,
            "#EXT-X-STREAM-INF:BANDWIDTH={bandwidth},CODECS=\"{codec}\",RESOLUTION=64x48\n{quality}/list.m3u8"
        );
    }
    text
}

fn low_playlist(seconds: u32) -> String {
    let mut text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD\n\
        #EXT-X-MAP:URI=\"head.mp4\"\n"
        .to_owned();
    for number in 1..=seconds {
        let _ = writeln!(text, "#EXTINF:1.0,\n{number}.m4s");
    }
    text + "#EXT-X-ENDLIST\n"
}

fn high_playlist(head: usize, ranges: &[(usize, usize)]) -> String {
    let mut text = format!(
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:VOD\n\
        #EXT-X-MAP:URI=\"film.mp4\",BYTERANGE=\"{head}@0\"\n"
    );
    for (from, length) in ranges {
        let _ = writeln!(text, "#EXTINF:1.0,\n#EXT-X-BYTERANGE:{length}@{from}\nfilm.mp4");
    }
    text + "#EXT-X-ENDLIST\n"
}

fn manifest(seconds: u32, head: usize, ranges: &[(usize, usize)]) -> String {
    let codec = cmaf::CODEC;
    let parts: String = ranges
        .iter()
        .map(|(from, length)| format!("<SegmentURL mediaRange=\"{from}-{}\"/>\n", from + length - 1))
        .collect();
    let representation = |id: &str, bandwidth: u32, inner: &str| {
        format!(
            "<Representation id=\"{id}\" bandwidth=\"{bandwidth}\" codecs=\"{codec}\" width=\"64\" height=\"48\">\n\
            {inner}</Representation>\n"
        )
    };
    let low = representation(
        "low",
        200_000,
        "<SegmentTemplate initialization=\"low/head.mp4\" media=\"low/$Number$.m4s\" duration=\"1\"/>\n",
    );
    let high = representation(
        "high",
        3_500_000,
        &format!(
            "<BaseURL>high/film.mp4</BaseURL>\n<SegmentList duration=\"1\">\n\
            <Initialization range=\"0-{}\"/>\n{parts}</SegmentList>\n",
            head - 1
        ),
    );
    format!(
        "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" \
        profiles=\"urn:mpeg:dash:profile:isoff-main:2011\" minBufferTime=\"PT2S\" \
        mediaPresentationDuration=\"PT{seconds}S\">\n<Period>\n\
        <AdaptationSet mimeType=\"video/mp4\" segmentAlignment=\"true\">\n{low}{high}</AdaptationSet>\n</Period>\n</MPD>\n"
    )
}
