//! `cargo xtask pictures`: the figures of reports as another program draws them, looked at pixel by pixel.
//!
//! Programs other than browsers know no style sheets with variables, and have other fonts. What they draw
//! must have the colours that the file names, a page below them, and no words at its edge.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::{packages, process, tree};

/// Whose reports are drawn: each takes a second in virtual time.
const EXPERIMENTS: &[&str] = &["quickstart", "round-trip"];
/// How far a colour may be off in each channel: edges are smoothed.
const NEAR: u8 = 48;
/// Points around a figure in which nothing is drawn. A file has a margin of 12.
const EDGE: usize = 2;

/// A picture: its width, and its pixels as red, green and blue.
#[derive(Debug)]
struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

/// Draws the figures of fresh reports and looks at each. Gives what is missing for that.
pub(crate) fn run() -> Result<Vec<String>, String> {
    let root = tree::root()?;
    if !process::succeeds("rsvg-convert", &["--version"])
        && let Err(why) = packages::install("librsvg2-bin", &root)
    {
        return Ok(vec![format!("pictures need rsvg-convert ({why})")]);
    }
    let runs = root.join("target/pictures");
    let _ = std::fs::remove_dir_all(&runs);
    let shown = runs.to_string_lossy().into_owned();
    for name in EXPERIMENTS {
        let file = format!("experiments/{name}.toml");
        let lab = ["run", "--locked", "--package", "cairn", "--", "lab", "run", &file, "--on", "sim"];
        process::run("cargo", &[&lab[..], &["--runs", &shown]].concat(), &root, &[])?;
    }
    let mut files = Vec::new();
    find(&runs, &mut files)?;
    if files.len() < 40 {
        return Err(format!("only {} figures were drawn below {shown}", files.len()));
    }
    files.extend(documented(&root, &runs)?);
    let mut wrong = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let drawn = file.with_extension("png");
        let arguments = [&*file.to_string_lossy(), "-o", &*drawn.to_string_lossy()];
        process::run("rsvg-convert", &arguments, &root, &[])?;
        let bytes = std::fs::read(&drawn).map_err(|error| format!("{}: {error}", drawn.display()))?;
        let picture = decode(&bytes).ok_or_else(|| format!("{} cannot be read", drawn.display()))?;
        wrong.extend(faults(&text, &picture).into_iter().map(|fault| format!("{}: {fault}", file.display())));
    }
    if wrong.is_empty() {
        println!("{} figures look as they should", files.len());
        return Ok(Vec::new());
    }
    Err(wrong.join("\n"))
}

/// Copies of the figures that the documentation shows, beside which their pictures can be drawn.
fn documented(root: &Path, runs: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut shipped, mut copies) = (Vec::new(), Vec::new());
    find(&root.join("docs/figures"), &mut shipped)?;
    for file in shipped {
        let copy = runs.join(file.file_name().unwrap_or_default());
        std::fs::copy(&file, &copy).map_err(|error| format!("{}: {error}", file.display()))?;
        copies.push(copy);
    }
    Ok(copies)
}

/// Every SVG below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "svg") {
            files.push(path);
        }
    }
    Ok(())
}

/// What is wrong with how a figure was drawn.
fn faults(svg: &str, picture: &Picture) -> Vec<String> {
    let mut faults = Vec::new();
    let count = |holds: &dyn Fn(&[u8; 3]) -> bool| picture.pixels.iter().filter(|pixel| holds(pixel)).count();
    let all = picture.pixels.len().max(1);
    let black = count(&|pixel| *pixel == [0, 0, 0]);
    if black * 200 > all {
        faults.push(format!("{} % of it is black, which no figure has", black * 100 / all));
    }
    let page = count(&|pixel| pixel.iter().all(|part| *part > 250));
    if page * 4 < all {
        faults.push(format!("only {} % of it is page", page * 100 / all));
    }
    let lines = svg.lines().filter(|line| line.starts_with("<polyline"));
    let colours: HashSet<&str> = lines.filter_map(|line| line.split_once("stroke=\"#")?.1.get(..6)).collect();
    for colour in colours {
        let Ok(number) = u32::from_str_radix(colour, 16) else { continue };
        let [_, wanted @ ..] = number.to_be_bytes();
        let is_near =
            |pixel: &[u8; 3]| pixel.iter().zip(wanted).all(|(part, wanted)| part.abs_diff(wanted) <= NEAR);
        if count(&is_near) == 0 {
            faults.push(format!("its line of colour #{colour} is not to be seen"));
        }
    }
    let height = all / picture.width.max(1);
    let at_edge = |place: usize| {
        let (x, y) = (place % picture.width, place / picture.width);
        x < EDGE || y < EDGE || x + EDGE >= picture.width || y + EDGE >= height
    };
    let marked = picture.pixels.iter().enumerate().filter(|(place, _)| at_edge(*place));
    if marked.filter(|(_, pixel)| pixel.iter().any(|part| *part < 200)).count() > 0 {
        faults.push("words or lines reach its edge".to_owned());
    }
    faults
}

/// A PNG of eight bits a channel with red, green, blue and perhaps opacity, as rsvg-convert writes it.
fn decode(bytes: &[u8]) -> Option<Picture> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let (mut width, mut channels, mut packed) = (0, 0, Vec::new());
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (kind, tail) = tail.split_first_chunk::<4>()?;
        let (content, tail) = tail.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        match kind {
            b"IHDR" => {
                width = u32::from_be_bytes(*content.first_chunk()?) as usize;
                // Depth, and kind of colour.
                channels = match (content.get(8)?, content.get(9)?) {
                    (8, 2) => 3,
                    (8, 6) => 4,
                    _ => return None,
                };
            }
            b"IDAT" => packed.extend_from_slice(content),
            _ => {}
        }
        rest = tail.get(4..)?;
    }
    let mut lines = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut lines).ok()?;
    let stride = width * channels;
    let mut before = vec![0_u8; stride];
    let mut pixels = Vec::new();
    for line in lines.chunks_exact(stride + 1) {
        let (filter, line) = line.split_first()?;
        let line = unfilter(*filter, line, &before, channels)?;
        // What is see-through shows a white page.
        let over = |part: u8, opacity: u8| {
            let part = u32::from(part) * u32::from(opacity) + 255 * (255 - u32::from(opacity));
            u8::try_from(part / 255).unwrap_or(u8::MAX)
        };
        for pixel in line.chunks_exact(channels) {
            let opacity = pixel.get(3).copied().unwrap_or(255);
            let [red, green, blue] = *pixel.first_chunk::<3>()?;
            pixels.push([red, green, blue].map(|part| over(part, opacity)));
        }
        before = line;
    }
    Some(Picture { width, pixels })
}

/// A line as it was before it was filtered (PNG specification, section 9).
fn unfilter(filter: u8, line: &[u8], above: &[u8], channels: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    for (place, value) in line.iter().enumerate() {
        let before = place.checked_sub(channels);
        let left = before.and_then(|before| out.get(before)).copied().unwrap_or(0);
        let up = above.get(place).copied().unwrap_or(0);
        let corner = before.and_then(|before| above.get(before)).copied().unwrap_or(0);
        let foretold = match filter {
            0 => 0,
            1 => left,
            2 => up,
            3 => u8::try_from((u16::from(left) + u16::from(up)) / 2).ok()?,
            4 => paeth(left, up, corner),
            _ => return None,
        };
        out.push(value.wrapping_add(foretold));
    }
    Some(out)
}

/// Of three neighbours the one that is nearest to left + up - corner.
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let sum = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |part: u8| (sum - i16::from(part)).abs();
    match (far(left), far(up), far(corner)) {
        (a, b, c) if a <= b && a <= c => left,
        (_, b, c) if b <= c => up,
        _ => corner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(paint: impl Fn(usize, usize) -> [u8; 3]) -> Picture {
        let pixels = (0..2500).map(|place| paint(place % 50, place / 50)).collect();
        Picture { width: 50, pixels }
    }

    const LINE: &str = "<polyline fill=\"none\" stroke=\"#0072b2\" points=\"\"/>";
    const BLUE: [u8; 3] = [0, 0x72, 0xb2];

    #[test]
    fn black_figures_missing_lines_and_words_at_the_edge_are_found() {
        let good = picture(|x, y| if y == 20 && (9..30).contains(&x) { BLUE } else { [255; 3] });
        assert_eq!(faults(LINE, &good), [""; 0]);
        let black = picture(|x, _| if x > 5 && x < 40 { [0; 3] } else { [255; 3] });
        let found = faults(LINE, &black);
        assert!(found[0].contains("is black") && found[1].contains("#0072b2"), "{found:?}");
        let clipped = picture(|x, y| {
            if y == 20 {
                BLUE
            } else if x == 49 && y == 3 {
                [40; 3]
            } else {
                [255; 3]
            }
        });
        assert!(faults(LINE, &clipped)[0].contains("edge"));
    }

    #[test]
    fn filtered_lines_come_back() {
        let above = [10, 20, 30, 40, 50, 60];
        assert_eq!(unfilter(0, &[1, 2, 3, 4, 5, 6], &above, 3), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(unfilter(1, &[1, 2, 3, 1, 1, 1], &above, 3), Some(vec![1, 2, 3, 2, 3, 4]));
        assert_eq!(unfilter(2, &[1, 1, 1, 1, 1, 255], &above, 3), Some(vec![11, 21, 31, 41, 51, 59]));
        assert_eq!(unfilter(3, &[0, 0, 0, 0, 0, 0], &above, 3), Some(vec![5, 10, 15, 22, 30, 37]));
        assert_eq!(unfilter(4, &[0, 0, 0, 0, 0, 0], &above, 3), Some(vec![10, 20, 30, 40, 50, 60]));
        assert_eq!(unfilter(5, &[0; 6], &above, 3), None);
    }
}
