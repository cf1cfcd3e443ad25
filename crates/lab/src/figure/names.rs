//! Names where there is little room: shortened, and different where they were.

use std::collections::HashSet;

use super::text::Ruler;

/// Names as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortNames {
    /// In the order of the names.
    pub(crate) shown: Vec<String>,
    /// Are they told apart by numbers, from 1, and by nothing else? Then a key has to say which is which.
    pub(crate) are_numbered: bool,
}

impl Ruler {
    /// Several names, each shortened where there is no room for it. What all have in common goes first; then
    /// what those have in common that would look alike, up to the part that tells them apart; and if there
    /// is no room for that they are numbered.
    pub(crate) fn fit_all(self, names: &[String], room: f64) -> ShortNames {
        let shortened =
            |names: &[String]| -> Vec<String> { names.iter().map(|name| self.fit(name, room)).collect() };
        let all = names.iter().collect::<HashSet<_>>().len();
        let are_distinct = |short: &[String]| short.iter().collect::<HashSet<_>>().len() == all;
        let short = shortened(names);
        let varying = varying_parts(names);
        let tries: [&dyn Fn() -> Vec<String>; 3] =
            [&|| short.clone(), &|| shortened(&varying), &|| self.told_apart(names, &short, room)];
        if let Some(shown) = tries.iter().map(|shown| shown()).find(|shown| are_distinct(shown)) {
            return ShortNames { shown, are_numbered: false };
        }
        let numbered = |(place, name): (usize, &String)| {
            let number = (place + 1).to_string();
            let in_brackets = format!(" ({number})");
            let short = self.fit(name, (room - self.width(&in_brackets)).max(0.0)) + &in_brackets;
            // Where there is hardly any room the number is all, or nothing.
            let mut choices = [short, number].into_iter();
            choices.find(|text| self.width(text) <= room).unwrap_or_default()
        };
        ShortNames { shown: varying.iter().enumerate().map(numbered).collect(), are_numbered: true }
    }

    /// The names as they were shortened, and those that came out alike with the part that tells them apart.
    fn told_apart(self, names: &[String], short: &[String], room: f64) -> Vec<String> {
        let of = |(name, shown): (&String, &String)| {
            let alike = names.iter().zip(short).filter(|(_, other)| *other == shown).map(|(name, _)| name);
            let alike: Vec<Vec<char>> = alike.map(|name| name.chars().collect()).collect();
            let letters: Vec<char> = name.chars().collect();
            if alike.iter().all(|other| *other == letters) {
                return shown.clone();
            }
            let (begin, end) = differing(&letters, &alike);
            self.around(&letters, begin, end, room).unwrap_or_else(|| shown.clone())
        };
        names.iter().zip(short).map(of).collect()
    }

    /// As much of a name as there is room for, around a part that has to be in it; nothing where there is no
    /// room for that. Better it is whole, up to the signs around it.
    fn around(self, letters: &[char], begin: usize, end: usize, room: f64) -> Option<String> {
        let is_part = |letter: &char| letter.is_alphanumeric();
        let before = letters.get(..begin)?.iter().rev().take_while(|letter| is_part(letter)).count();
        let after = letters.get(end..)?.iter().take_while(|letter| is_part(letter)).count();
        let shown = |(begin, end): (usize, usize), (head, tail): (usize, usize)| -> Option<String> {
            let text = |letters: &[char]| letters.iter().collect::<String>();
            let cut = |is_cut: bool| if is_cut { "…" } else { "" };
            let last = letters.len().checked_sub(tail)?;
            let [head_text, core, tail_text] =
                [letters.get(..head)?, letters.get(begin..end)?, letters.get(last..)?].map(text);
            let (before, after) = (cut(head < begin), cut(end < last));
            Some(format!("{head_text}{before}{core}{after}{tail_text}"))
        };
        let fits = |text: &String| self.width(text) <= room;
        for part in [(begin - before, end + after), (begin, end)] {
            let Some(mut best) = shown(part, (0, 0)).filter(fits) else { continue };
            let (mut head, mut tail) = (0, 0);
            // One letter at the front, one at the back, as long as there is room.
            loop {
                let at_front = (head < part.0).then_some((head + 1, tail));
                let at_back = (tail < letters.len() - part.1).then_some((head, tail + 1));
                let more = |ends: (usize, usize)| Some((ends, shown(part, ends).filter(fits)?));
                let order = if head <= tail { [at_front, at_back] } else { [at_back, at_front] };
                let Some((ends, text)) = order.into_iter().flatten().find_map(more) else { break };
                ((head, tail), best) = (ends, text);
            }
            return Some(best);
        }
        // Without signs that something is left out, which take room.
        let core: String = letters.get(begin - before..end + after)?.iter().collect();
        fits(&core).then_some(core)
    }
}

/// From where to where a name differs from others: what is left without what all begin with, and what all
/// end with.
fn differing(letters: &[char], all: &[Vec<char>]) -> (usize, usize) {
    let same = |other: &Vec<char>| letters.iter().zip(other).take_while(|(a, b)| a == b).count();
    let begin = all.iter().map(same).min().unwrap_or(0);
    let rest = all.iter().map(Vec::len).min().unwrap_or(0) - begin;
    let same = |other: &Vec<char>| {
        let from_back = letters.iter().rev().zip(other.iter().rev());
        from_back.take_while(|(a, b)| a == b).count()
    };
    // A name itself is one of all, and ends like itself.
    let end = all.iter().map(same).min().unwrap_or(0).min(rest);
    (begin.min(letters.len() - end), letters.len() - end)
}

/// The names without those of their parts that are the same in all of them, where all have as many. Parts
/// stand between commas, as in the names of cases.
fn varying_parts(names: &[String]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split(", ").collect()).collect();
    let Some(first) = parts.first() else { return Vec::new() };
    if parts.iter().any(|list| list.len() != first.len()) {
        return names.to_vec();
    }
    let varies = |place: &usize| parts.iter().any(|list| list.get(*place) != first.get(*place));
    let kept: Vec<usize> = (0..first.len()).filter(varies).collect();
    let of = |list: &Vec<&str>| {
        kept.iter().filter_map(|place| list.get(*place).copied()).collect::<Vec<_>>().join(", ")
    };
    parts.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::font::Weight;
    use super::super::text::width;
    use super::*;

    #[test]
    fn names_that_differ_in_their_middle_still_differ_when_they_are_shortened() {
        let names = |of: fn(u32) -> String| (1..=3).map(of).collect::<Vec<String>>();
        let lists = [
            names(|n| format!("forwarders of the first row, policy {n}, links of the last row at 10 Mbit/s")),
            names(|n| format!("forwarders of the first row {n} links of the last row at 10 Mbit/s")),
        ];
        for list in lists {
            let short = Ruler::own(11.0, Weight::Regular).fit_all(&list, 90.0).shown;
            let distinct: HashSet<&String> = short.iter().collect();
            assert_eq!(distinct.len(), 3, "{short:?}");
            assert!(short.iter().all(|name| width(name, 11.0, Weight::Regular) <= 90.0), "{short:?}");
        }
        let list: Vec<String> = (1..=12).map(|n| format!("first {n} last")).collect();
        assert_eq!(Ruler::own(11.0, Weight::Regular).fit_all(&list, 14.0).shown[11], "12");
        assert_eq!(Ruler::own(11.0, Weight::Regular).fit_all(&list, 3.0).shown[11], "");
        assert_eq!(
            Ruler::own(11.0, Weight::Regular).fit_all(&["a".to_owned(), "a".to_owned()], 90.0).shown,
            ["a", "a"]
        );
    }

    #[test]
    fn names_that_would_look_alike_keep_the_part_that_tells_them_apart() {
        let ruler = Ruler::own(13.0, Weight::Bold);
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let routers = names(&["router-north-01-backbone", "router-north-02-backbone", "consumer"]);
        let ShortNames { shown, are_numbered } = ruler.fit_all(&routers, 76.0);
        assert!(!are_numbered && shown[0].contains("…01…") && shown[1].contains("…02…"), "{shown:?}");
        assert!(
            shown[0].starts_with("rou") && shown[0].ends_with('e') && shown[2] == "consumer",
            "{shown:?}"
        );
        assert!(shown.iter().all(|name| ruler.width(name) <= 76.0), "{shown:?}");
        assert_eq!(
            ruler.fit_all(&routers[..2], 20.0).shown,
            ["01", "02"],
            "better than a number that needs a key"
        );
        // A part that is longer than there is room for is of no use, and one that is empty neither.
        let words = names(&["consumer", "commander", "computer", "customer"]);
        let ShortNames { shown, are_numbered } = ruler.fit_all(&words, 24.0);
        assert!(are_numbered && shown == ["1", "2", "3", "4"], "{shown:?}");
        assert_eq!(differing(&['a', 'b'], &[vec!['a', 'b'], vec!['a', 'b', 'b']]), (2, 2));
    }
}
