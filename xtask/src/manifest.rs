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
/// dependency a line below `[…dependencies]`, or a table `[…dependencies.name]`. A name that the manifest of
/// the workspace gives to a package is read as that package.
pub(crate) fn dependencies<'a>(manifest: &'a str, workspace: &'a str) -> Vec<Dependency<'a>> {
    let names: Vec<Entry<'_>> =
        entries(workspace).into_iter().filter(|entry| entry.section == "workspace.dependencies").collect();
    let package = |entry: &Entry<'a>| {
        let shared = || names.iter().find(|one| one.name == entry.name)?.package;
        entry.package.or_else(shared).unwrap_or(entry.name)
    };
    let dependency = |entry: Entry<'a>| Dependency {
        package: package(&entry),
        line: entry.line,
        only_in_tests: entry.section.ends_with("dev-dependencies"),
    };
    entries(manifest).into_iter().map(dependency).collect()
}

/// A dependency as the manifest writes it.
struct Entry<'a> {
    section: &'a str,
    name: &'a str,
    /// What `package = "…"` says.
    package: Option<&'a str>,
    /// Counted from 1.
    line: usize,
}

fn entries(manifest: &str) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (line, text) in (1..).zip(manifest.lines().map(str::trim)) {
        if let Some(header) = text.strip_prefix('[') {
            section = header.trim_end_matches(']');
            if let Some((table, name)) = section.rsplit_once('.')
                && table.ends_with("dependencies")
            {
                found.push(Entry { section: table, name: name.trim_matches('"'), package: None, line });
            }
        } else if section.ends_with("dependencies") && !text.is_empty() && !text.starts_with('#') {
            let name = text.split(['.', '=']).next().unwrap_or_default().trim().trim_matches('"');
            let package = text.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            found.push(Entry { section, name, package, line });
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
            dependencies(manifest, "").iter().map(|one| (one.package, one.line, one.only_in_tests)).collect();
        assert_eq!(found, [("a", 4, false), ("c", 5, false), ("e", 7, true), ("f", 10, false)]);
    }

    #[test]
    fn a_name_that_the_workspace_gives_is_read_as_its_package() {
        let workspace = "[workspace.dependencies]\nlink = { package = \"cairn-link\", path = \"crates/link\" }\ntoml = \"1\"\n";
        let manifest = "[dependencies]\nlink.workspace = true\ntoml.workspace = true\n\
                        other = { package = \"link\", version = \"1\" }\n[dependencies.link]\nworkspace = true\n";
        let found: Vec<&str> =
            dependencies(manifest, workspace).iter().map(|dependency| dependency.package).collect();
        assert_eq!(found, ["cairn-link", "toml", "link", "cairn-link"]);
    }
}
