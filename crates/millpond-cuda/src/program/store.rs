//! Images on disk, for the next process.
//!
//! An entry is a file named by a hash of what its image depends on, which it holds as well: who
//! compiled, for which architecture, the source, and this crate's version. So what it is found by may
//! collide without harm, and a file that was cut or damaged is as none: a checksum stands behind all.
//! A file appears whole, by a rename, so that processes share a folder without locks. When the files
//! are more than a limit, those that were used longest ago go. A folder that can't be read or written
//! costs the cache only.

use std::fs::{self, File, FileTimes};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{io, process};

use crate::compiler::Image;

/// What entries are named like.
const SUFFIX: &str = "millpond-kernel";

/// Bytes of all entries, at most.
const LIMIT: u64 = 256 << 20;

/// Of a folder that has more, this much is kept.
const KEPT: u64 = LIMIT / 4 * 3;

/// What an image depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) compiler: &'a str,
    pub(crate) architecture: i32,
    pub(crate) source: &'a str,
}

impl Origin<'_> {
    /// Everything, as it stands in an entry before the image.
    fn text(&self) -> Vec<u8> {
        let version = env!("CARGO_PKG_VERSION");
        let Self {
            compiler,
            architecture,
            source,
        } = self;
        format!("millpond {version}\n{compiler}\nsm_{architecture}\n{source}\0").into_bytes()
    }
}

/// A folder of images.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    limit: u64,
    kept: u64,
}

impl Store {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            limit: LIMIT,
            kept: KEPT,
        }
    }

    fn path(&self, text: &[u8]) -> PathBuf {
        self.folder.join(format!("{:016x}.{SUFFIX}", hash(text)))
    }

    /// The image of an origin, if there is one; it counts as used.
    pub(crate) fn load(&self, origin: Origin<'_>) -> Option<Image> {
        let text = origin.text();
        let path = self.path(&text);
        let bytes = fs::read(&path).ok()?;
        let (content, sum) = bytes.split_last_chunk::<8>()?;
        let image = content.strip_prefix(&text[..])?;
        if u64::from_le_bytes(*sum) != hash(content) {
            return None;
        }
        if let Ok(file) = File::options().append(true).open(&path) {
            // A folder that can't be written keeps its times.
            let _ = file.set_times(FileTimes::new().set_modified(SystemTime::now()));
        }
        Some(image.to_vec())
    }

    /// Keeps an image. What goes wrong costs its place in the cache and nothing else.
    pub(crate) fn keep(&self, origin: Origin<'_>, image: &[u8]) {
        if self.write(origin, image).is_ok() {
            self.tidy();
        }
    }

    fn write(&self, origin: Origin<'_>, image: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        let mut bytes = origin.text();
        let path = self.path(&bytes);
        bytes.extend_from_slice(image);
        let sum = hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let draft = self
            .folder
            .join(format!("{}-{number}.draft.{SUFFIX}", process::id()));
        let written = File::create(&draft)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Removes what was used longest ago, if there is too much.
    fn tidy(&self) {
        let Ok(mut entries) = entries(&self.folder) else {
            return;
        };
        let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= self.limit {
            return;
        }
        entries.sort();
        for (_, size, path) in entries {
            if bytes <= self.kept {
                break;
            }
            // Another process may have been first.
            let _ = fs::remove_file(path);
            bytes -= size;
        }
    }
}

/// The entries of a folder: when each was used, its bytes, and its path.
fn entries(folder: &Path) -> io::Result<Vec<(SystemTime, u64, PathBuf)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path
            .extension()
            .is_some_and(|extension| extension == SUFFIX)
            && let Ok(data) = entry.metadata()
            && let Ok(used) = data.modified()
        {
            entries.push((used, data.len(), path));
        }
    }
    Ok(entries)
}

/// A hash that is the same in all processes of a build; another one finds no entries, and makes its
/// own.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A folder of the test's own, which goes with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("millpond-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn origin(source: &str) -> Origin<'_> {
        Origin {
            compiler: "NVRTC 12.9",
            architecture: 90,
            source,
        }
    }

    #[test]
    fn an_image_is_found_by_all_that_it_depends_on() {
        let folder = Folder::new("found");
        let store = Store::new(folder.0.join("made/when/needed"));
        assert_eq!(store.load(origin("a")), None);
        store.keep(origin("a"), b"image of a");
        assert_eq!(store.load(origin("a")), Some(b"image of a".to_vec()));
        let others = [
            origin("b"),
            Origin {
                architecture: 100,
                ..origin("a")
            },
            Origin {
                compiler: "NVRTC 13.0",
                ..origin("a")
            },
        ];
        for other in others {
            assert_eq!(store.load(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_entry_of_another_source_or_with_damage_is_none() {
        let folder = Folder::new("damage");
        let store = Store::new(folder.0.clone());
        store.keep(origin("a"), b"image");
        let path = store.path(&origin("a").text());
        // As if the hashes were the same.
        fs::copy(&path, store.path(&origin("b").text())).expect("a folder of the test's");
        assert_eq!(store.load(origin("b")), None);
        let whole = fs::read(&path).expect("it is there");
        for cut in [0, 7, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).expect("a folder of the test's");
            assert_eq!(store.load(origin("a")), None, "of {cut} bytes");
        }
        let mut damaged = whole;
        let last = damaged.len() - 9;
        damaged[last] ^= 1;
        fs::write(&path, damaged).expect("a folder of the test's");
        assert_eq!(store.load(origin("a")), None);
        store.keep(origin("a"), b"image");
        assert_eq!(store.load(origin("a")), Some(b"image".to_vec()));
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = Folder::new("tidy");
        let mut store = Store::new(folder.0.clone());
        let image = [7; 1000];
        let sources = ["a", "b", "c", "d"];
        for (age, source) in sources.iter().enumerate() {
            store.keep(origin(source), &image);
            let file = File::options()
                .append(true)
                .open(store.path(&origin(source).text()));
            let time = SystemTime::now() - Duration::from_secs(1000 - age as u64);
            let set = file.and_then(|file| file.set_modified(time));
            set.expect("a folder of the test's");
        }
        // Using it makes it the newest.
        assert!(store.load(origin("a")).is_some());
        (store.limit, store.kept) = (4000, 3500);
        store.keep(origin("e"), &image);
        let there = ["a", "b", "c", "d", "e"].map(|source| store.load(origin(source)).is_some());
        assert_eq!(there, [true, false, false, true, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_cache_only() {
        let folder = Folder::new("file");
        fs::write(&folder.0, "no folder").expect("the system has a place for temporary files");
        let store = Store::new(folder.0.clone());
        store.keep(origin("a"), b"image");
        assert_eq!(store.load(origin("a")), None);
        fs::remove_file(&folder.0).expect("it is the test's");
    }
}
