//! `Cargo.toml` files, as far as the rules have to read them.

/// One line of a dependency table.
#[derive(Debug, PartialEq)]
pub(crate) struct Dependency<'a> {
    /// The package's name, also where it is renamed.
    pub(crate) package: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) only_in_tests: bool,
}

/// The dependencies a manifest declares. Reads the plain forms that manifests here are written in: one
/// dependency a line below `[…dependencies]`, or a table `[…dependencies.name]`.
pub(crate) fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        let add = |package, section: &str| Dependency {
            package,
            line: number + 1,
            only_in_tests: section.ends_with("dev-dependencies"),
        };
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            if let Some((table, package)) = section.rsplit_once('.')
                && table.ends_with("dependencies")
            {
                found.push(add(package.trim_matches('"'), table));
            }
        } else if section.ends_with("dependencies") && !line.is_empty() && !line.starts_with('#') {
            let key = line.split(['.', '=']).next().unwrap_or_default().trim().trim_matches('"');
            let renamed = line.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            found.push(add(renamed.unwrap_or(key), section));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_dependency_is_read() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = { package = \"c\", path = \"..\" }\n\
                        # d = \"1\"\n[dev-dependencies.e]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\nf = \"1\"\n";
        let found: Vec<(&str, usize, bool)> =
            dependencies(manifest).iter().map(|one| (one.package, one.line, one.only_in_tests)).collect();
        assert_eq!(found, [("a", 4, false), ("c", 5, false), ("e", 7, true), ("f", 10, false)]);
    }
}
