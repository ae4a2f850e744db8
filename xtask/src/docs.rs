//! `cargo xtask docs`: the documentation site, in `target/site`.
//!
//! It is made of the pages of `docs`, the docstrings of the wheel, and the pages of the crates. What Sphinx warns of
//! fails: a link that leads nowhere, a page that no index names, a docstring that isn't well formed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::metadata::target;
use crate::options::Options;
use crate::python_env;
use crate::run::{Program, step};
use crate::wheel::{self, Profile, Reach};

/// Where the site has the pages of the crates; `docs/site/pages.py` links there.
const CRATES: &str = "rust";

/// Makes the site, with the docstrings of a new wheel and the pages of the crates.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    Options::parse(arguments, &[], &[])?.no_words()?;
    python_env::prepare(&["build", "docs"])?;
    let wheel = wheel::build(Reach::Here, Profile::Test)?;
    python_env::install_wheel(&wheel)?;
    step("documentation site", || site()?.run())?;
    step("pages of the crates", || {
        let pages = ["doc", "--workspace", "--no-deps", "--exclude", "xtask"];
        Program::cargo().args(pages).arg("--quiet").run()?;
        copy(&target()?.join("doc"), &place()?.join(CRATES))
    })?;
    println!("docs: open {}", place()?.join("index.html").display());
    Ok(())
}

/// The program that makes the site, without the pages of the crates, of what is installed.
pub(crate) fn site() -> Outcome<Program> {
    let place = place()?;
    // Pages that are gone would stay.
    let _ = fs::remove_dir_all(&place);
    let program = python_env::python().args(["-m", "sphinx", "--builder", "html", "--quiet"]);
    let program = program.args(["--fresh-env", "--fail-on-warning", "--keep-going"]);
    let program = program
        .arg("--doctree-dir")
        .arg(target()?.join("site-doctrees"));
    Ok(program.args(["--conf-dir", "docs/site", "docs"]).arg(place))
}

fn place() -> Outcome<PathBuf> {
    Ok(target()?.join("site"))
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).map_err(Failure::file(to))?;
    for entry in fs::read_dir(from).map_err(Failure::file(from))? {
        let entry = entry.map_err(Failure::file(from))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to).map_err(Failure::file(&from))?;
        }
    }
    Ok(())
}
