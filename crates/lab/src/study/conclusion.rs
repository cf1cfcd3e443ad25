//! What a study comes to, for whoever reads exit codes: its statements are judged like those of any run.

use serde_json::Value;

use super::report::VERDICT;
use super::statement::Verdict;
use crate::report::Conclusion;

/// What a study's `report.json` comes to. What lies outside of the bounds that a study states is contradicted
/// as well.
#[must_use]
pub fn conclusion(report: &Value) -> Conclusion {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    for table in list(&report["tables"]) {
        let columns = list(&table["columns"]);
        let Some(place) = columns.iter().position(|column| column == VERDICT) else { continue };
        words
            .extend(list(&table["rows"]).iter().filter_map(|row| Some(row.get(place)?.as_str()?.to_owned())));
    }
    let any = |verdict: Verdict| words.iter().any(|word| word == verdict.word());
    if any(Verdict::Contradicted) || !list(&report["misses"]).is_empty() {
        Conclusion::Contradicted
    } else if any(Verdict::NotTestable) {
        Conclusion::NotTestable
    } else {
        Conclusion::AsExpected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str], misses: &[&str]) -> Conclusion {
        let rows: Vec<Value> =
            words.iter().map(|word| serde_json::json!(["III", "it is so", word])).collect();
        conclusion(&serde_json::json!({
            "tables": [
                { "columns": ["tick", "Mbps"], "rows": [["contradicted", 3]] },
                { "columns": ["section", "statement", "verdict"], "rows": rows },
            ],
            "misses": misses,
        }))
    }

    #[test]
    fn a_study_ends_as_its_statements_say() {
        assert_eq!(of(&["confirmed", "by construction"], &[]), Conclusion::AsExpected);
        assert_eq!(of(&["confirmed", "not testable here"], &[]), Conclusion::NotTestable);
        assert_eq!(of(&["contradicted", "not testable here"], &[]), Conclusion::Contradicted);
        assert_eq!(of(&["confirmed"], &["50 ms: 7 Nacks, the paper has 20"]), Conclusion::Contradicted);
    }
}
