//! Sheets written down as a PDF: fonts embedded, figures as paths, a list of contents.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::sheets::{Mark, extent};
use crate::figure::font::{face, file, glyph, is_missing};
use crate::figure::palette::SHADE;
use crate::figure::{Drawing, Paint, Point, Shape, Style, Weight};

/// The fonts, their names within the file and as people know them.
const FONTS: [(Weight, &[u8], &str); 2] =
    [(Weight::Regular, b"R", "Roboto-Regular"), (Weight::Bold, b"B", "Roboto-Bold")];
const SHADED: Name<'_> = Name(b"Shaded");
const SOLID: Name<'_> = Name(b"Solid");

/// Characters that were written, by their glyph.
type Used = BTreeMap<u16, char>;

/// PDF counts with single precision.
fn f(value: f64) -> f32 {
    value as f32
}

/// Compressed, and whether it is: memory does not refuse to be written to.
fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

struct Writer {
    pdf: Pdf,
    next: i32,
    used: [Used; 2],
}

impl Writer {
    fn id(&mut self) -> Ref {
        self.next += 1;
        Ref::new(self.next)
    }

    /// A stream of bytes that is compressed.
    fn stream(&mut self, id: Ref, bytes: &[u8], length: Option<usize>) {
        let packed = packed(bytes);
        let mut stream = self.pdf.stream(id, packed.as_deref().unwrap_or(bytes));
        if packed.is_some() {
            stream.filter(Filter::FlateDecode);
        }
        if let Some(length) = length {
            // A font's file says how long it was.
            stream.pair(Name(b"Length1"), i32::try_from(length).unwrap_or(0));
        }
    }
}

pub(super) fn write(title: &str, sheets: &[Drawing], marks: &[Mark]) -> Vec<u8> {
    let mut writer = Writer { pdf: Pdf::new(), next: 0, used: [Used::new(), Used::new()] };
    let (catalog, tree, info) = (writer.id(), writer.id(), writer.id());
    let fonts = [writer.id(), writer.id()];
    let (shaded, solid) = (writer.id(), writer.id());
    writer.pdf.ext_graphics(shaded).non_stroking_alpha(f(SHADE));
    writer.pdf.ext_graphics(solid).non_stroking_alpha(1.0);
    let mut pages = Vec::new();
    for sheet in sheets {
        let (page, content) = (writer.id(), writer.id());
        pages.push(page);
        let bytes = draw(sheet, &mut writer.used);
        writer.stream(content, &bytes, None);
        let mut entry = writer.pdf.page(page);
        entry.parent(tree).contents(content).media_box(Rect::new(0.0, 0.0, f(sheet.width), f(sheet.height)));
        let mut resources = entry.resources();
        let mut names = resources.fonts();
        for ((_, name, _), id) in FONTS.iter().zip(fonts) {
            names.pair(Name(name), id);
        }
        names.finish();
        resources.ext_g_states().pair(SHADED, shaded).pair(SOLID, solid);
    }
    let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
    writer.pdf.pages(tree).kids(pages.iter().copied()).count(count);
    for (number, id) in fonts.into_iter().enumerate() {
        font(&mut writer, number, id);
    }
    let contents = outline(&mut writer, sheets, &pages, marks);
    writer.pdf.document_info(info).title(TextStr(title)).creator(TextStr("Cairn lab"));
    let mut entry = writer.pdf.catalog(catalog);
    entry.pages(tree).lang(TextStr("en"));
    if let Some(contents) = contents {
        entry.outlines(contents);
    }
    entry.viewer_preferences().display_doc_title(true);
    entry.finish();
    writer.pdf.finish()
}

/// A list of contents for the reader's side bar.
fn outline(writer: &mut Writer, sheets: &[Drawing], pages: &[Ref], marks: &[Mark]) -> Option<Ref> {
    let root = writer.id();
    let ids: Vec<Ref> = marks.iter().map(|_| writer.id()).collect();
    let (first, last) = (ids.first().copied()?, ids.last().copied()?);
    writer.pdf.outline(root).first(first).last(last).count(i32::try_from(ids.len()).unwrap_or(i32::MAX));
    for (number, ((title, page, y), id)) in marks.iter().zip(&ids).enumerate() {
        let mut item = writer.pdf.outline_item(*id);
        item.title(TextStr(title)).parent(root);
        if let Some(before) = number.checked_sub(1).and_then(|number| ids.get(number)) {
            item.prev(*before);
        }
        if let Some(after) = ids.get(number + 1) {
            item.next(*after);
        }
        if let (Some(target), Some(sheet)) = (pages.get(*page), sheets.get(*page)) {
            item.dest().page(*target).xyz(0.0, f(sheet.height - y), None);
        }
    }
    Some(root)
}

/// A font with the widths and the meaning of the glyphs that were used. Its file is small, and goes in as it
/// is.
fn font(writer: &mut Writer, number: usize, id: Ref) {
    let Some((weight, _, name)) = FONTS.get(number).copied() else { return };
    let Some(face) = face(weight) else { return };
    let used = writer.used.get(number).cloned().unwrap_or_default();
    let (cid, descriptor, meaning, data) = (writer.id(), writer.id(), writer.id(), writer.id());
    let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
    let base = Name(name.as_bytes());
    writer
        .pdf
        .type0_font(id)
        .base_font(base)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(cid)
        .to_unicode(meaning);
    let scale = 1000.0 / f64::from(face.units_per_em());
    let mut entry = writer.pdf.cid_font(cid);
    entry.subtype(CidFontType::Type2).base_font(base).system_info(system).font_descriptor(descriptor);
    entry.default_width(500.0).cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = entry.widths();
    for (glyph, letter) in &used {
        widths.consecutive(*glyph, [f(self::glyph(*letter, weight).advance * 1000.0)]);
    }
    widths.finish();
    entry.finish();
    let bounds = face.global_bounding_box();
    let side = |value: i16| f(f64::from(value) * scale);
    let rect = Rect::new(side(bounds.x_min), side(bounds.y_min), side(bounds.x_max), side(bounds.y_max));
    let mut entry = writer.pdf.font_descriptor(descriptor);
    entry.name(base).flags(FontFlags::NON_SYMBOLIC).bbox(rect).italic_angle(0.0);
    entry.ascent(side(face.ascender())).descent(side(face.descender()));
    entry.cap_height(side(face.capital_height().unwrap_or(1456)));
    entry.stem_v(if weight == Weight::Bold { 140.0 } else { 80.0 }).font_file2(data);
    entry.finish();
    let mut map = UnicodeCmap::new(Name(b"Meaning"), system);
    for (glyph, letter) in &used {
        map.pair(*glyph, *letter);
    }
    let map = map.finish();
    writer.stream(meaning, &map, None);
    writer.stream(data, file(weight), Some(file(weight).len()));
}

/// A sheet's content. PDF counts from the bottom, drawings from the top.
fn draw(sheet: &Drawing, used: &mut [Used; 2]) -> Vec<u8> {
    let mut content = Content::new();
    let flip = |(x, y): Point| (f(x), f(sheet.height - y));
    let trace = |content: &mut Content, points: &[Point]| {
        for (number, point) in points.iter().enumerate() {
            let (x, y) = flip(*point);
            if number == 0 {
                content.move_to(x, y);
            } else {
                content.line_to(x, y);
            }
        }
    };
    for shape in &sheet.shapes {
        match shape {
            Shape::Line { from, to, paint, wide } => {
                stroke(&mut content, *paint, *wide);
                trace(&mut content, &[*from, *to]);
                content.stroke();
            }
            Shape::Path { points, paint, wide, dash } => {
                stroke(&mut content, *paint, *wide);
                if let Some((on, off)) = dash.pattern() {
                    content.set_dash_pattern([f(on * wide / 1.6), f(off * wide / 1.6)], 0.0);
                }
                trace(&mut content, points);
                content.stroke();
                if dash.pattern().is_some() {
                    content.set_dash_pattern([], 0.0);
                }
            }
            Shape::Area { points, paint } => {
                fill(&mut content, *paint);
                content.set_parameters(SHADED);
                trace(&mut content, points);
                content.fill_nonzero();
                content.set_parameters(SOLID);
            }
            Shape::Rectangle { at, size, paint, .. } => {
                fill(&mut content, *paint);
                let (x, y) = flip((at.0, at.1 + size.1));
                content.rect(x, y, f(size.0), f(size.1));
                content.fill_nonzero();
            }
            Shape::Border { at, size, paint, .. } => {
                stroke(&mut content, *paint, 0.8);
                let (x, y) = flip((at.0, at.1 + size.1));
                content.rect(x, y, f(size.0), f(size.1));
                content.stroke();
            }
            Shape::Text { at, anchor, text, style } => {
                let (x, y) = flip((extent(*at, *anchor, text, *style).0, at.1));
                words(&mut content, (x, y), text, *style, used);
                boxes(&mut content, (x, y), text, *style);
            }
        }
    }
    content.finish().to_vec()
}

fn part(value: u8) -> f32 {
    f32::from(value) / 255.0
}

fn fill(content: &mut Content, paint: Paint) {
    let (r, g, b) = paint.light();
    content.set_fill_rgb(part(r), part(g), part(b));
}

fn stroke(content: &mut Content, paint: Paint, wide: f64) {
    let (r, g, b) = paint.light();
    content.set_stroke_rgb(part(r), part(g), part(b));
    content.set_line_width(f(wide.max(0.3)));
}

fn words(content: &mut Content, at: (f32, f32), text: &str, style: Style, used: &mut [Used; 2]) {
    let place = usize::from(style.weight == Weight::Bold);
    let Some(((_, name, _), used)) = FONTS.get(place).zip(used.get_mut(place)) else { return };
    let mut glyphs = Vec::new();
    for letter in text.chars() {
        let glyph = glyph(letter, style.weight).id;
        used.insert(glyph, letter);
        glyphs.extend(glyph.to_be_bytes());
    }
    fill(content, style.paint);
    content.begin_text();
    content.set_font(Name(name), f(style.size));
    content.next_line(at.0, at.1);
    content.show(Str(&glyphs));
    content.end_text();
}

/// A box for each letter that the font lacks: nothing at all would look as if nothing had been written.
fn boxes(content: &mut Content, at: (f32, f32), text: &str, style: Style) {
    let mut along = 0.0;
    for letter in text.chars() {
        let wide = glyph(letter, style.weight).advance * style.size;
        if is_missing(letter, style.weight) {
            stroke(content, style.paint, style.size * 0.05);
            let (edge, high) = (f(wide * 0.1), f(style.size * 0.7));
            content.rect(at.0 + f(along) + edge, at.1, f(wide * 0.8), high);
            content.stroke();
        }
        along += wide;
    }
}
