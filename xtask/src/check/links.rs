//! Links between the pages of the project lead somewhere.

use super::{Verdict, judge};
use crate::failure::Outcome;
use crate::project;

/// Fails for each link to a file that isn't there; links to other sites aren't followed.
pub(super) fn check() -> Outcome<Verdict> {
    let mut faults = Vec::new();
    for page in project::files(project::root())? {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let folder = page.parent().unwrap_or(project::root());
        for target in targets(&project::read(&page)?) {
            if !folder.join(target).exists() {
                faults.push(format!("{}: no {target}", project::relative(&page)));
            }
        }
    }
    judge(&faults)
}

/// What the links of a page point to within the project, without the place inside the page.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter_map(|link| link.split('#').next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn only_links_within_the_project_count() {
        let page = "[a](one.md) [b](https://example.org/x.md), [c](#below) [d](two.md#part) f(x)";
        assert_eq!(targets(page).collect::<Vec<_>>(), ["one.md", "two.md"]);
    }
}
